package wire

import (
	"encoding/json"
	"fmt"
	"time"

	"eventdeck/host/trust"
)

// Methods and notifications of resumable streams.
const (
	MethodResume  = "stream/resume"
	MethodPollOne = "stream/poll"

	NoteStreamCreate = "notifications/stream/create"
	NoteStreamEnd    = "notifications/stream/end"
)

// Resume is the data that resumes a stream on its server. Whoever has it can read the
// stream: it is kept like a secret.
type Resume struct {
	Request ID // the request of the stream
	Stream  string
	Token   string
	Min     time.Duration // wait at least this long before resuming
	Max     time.Duration // the server may have given the stream up after this; 0: it never does
}

type storedResume struct {
	Request ID            `json:"request,omitempty"`
	Stream  []byte        `json:"stream"` // JSON strings cannot hold every text
	Token   []byte        `json:"token"`
	Min     time.Duration `json:"min,omitempty"`
	Max     time.Duration `json:"max,omitempty"`
}

// Text returns r, in clear, for sealing.
func (r Resume) Text() string {
	raw, err := json.Marshal(storedResume{r.Request, []byte(r.Stream), []byte(r.Token), r.Min, r.Max})
	if err != nil {
		return "" // strings and numbers can always be encoded
	}
	return string(raw)
}

// ParseResume reads what [Resume.Text] wrote. ok is false for anything else.
func ParseResume(text string) (r Resume, ok bool) {
	var s storedResume
	if json.Unmarshal([]byte(text), &s) != nil || len(s.Stream) == 0 {
		return Resume{}, false
	}
	return Resume{s.Request, string(s.Stream), string(s.Token), s.Min, s.Max}, true
}

// MarshalJSON writes the params of stream/resume and stream/poll, the token in clear.
func (r Resume) MarshalJSON() ([]byte, error) {
	return Marshal(struct {
		Stream sentCursor `json:"streamId"`
		Token  sentCursor `json:"resumeToken"`
	}{sentCursor{text: trust.Untrusted(r.Stream), valid: true}, sentCursor{text: trust.Untrusted(r.Token), valid: true}})
}

// Bounds of resumeInterval: values outside are clamped.
const (
	longestMin = time.Minute
	longestMax = 7 * 24 * time.Hour
)

// DecodeResume reads notifications/stream/create, also with the members in a stream object,
// as in an earlier draft.
//
// Error: [ErrMalformed] without a stream or a token.
func DecodeResume(raw json.RawMessage) (Resume, error) {
	m, err := decodeMembers("notifications/stream/create", raw)
	if err != nil {
		return Resume{}, err
	}
	inner := m
	if nested, err := decodeMembers("the stream", m["stream"]); err == nil {
		inner = nested
	}
	r := Resume{Stream: inner.text("streamId").Raw(), Token: inner.text("resumeToken").Raw()}
	for _, from := range []members{inner, m} {
		if id := from["requestId"]; len(id) > 0 && string(id) != "null" {
			r.Request = CanonicalID(id)
			break
		}
	}
	if interval, err := decodeMembers("resumeInterval", inner["resumeInterval"]); err == nil {
		r.Min, _ = interval.duration("min", time.Second)
		r.Max, _ = interval.duration("max", time.Second)
	}
	r.Min = min(max(r.Min, 0), longestMin)
	r.Max = min(max(r.Max, 0), longestMax)
	if r.Stream == "" || r.Token == "" {
		return Resume{}, fmt.Errorf("%w: a stream without streamId or resumeToken", ErrMalformed)
	}
	return r, nil
}

// StreamState is the status of a stream, without its contents.
type StreamState struct {
	Stream trust.Text
	Status trust.Text // e.g. active, ended, abandoned
}

// Gone reports whether the stream can no longer be resumed.
func (s StreamState) Gone() bool { return s.Status.Raw() == "abandoned" }

// DecodeStreams reads the result of stream/poll, or of stream/poll/all with its
// list. Error: [ErrMalformed].
func DecodeStreams(raw json.RawMessage) ([]StreamState, error) {
	m, err := decodeMembers("the status of a stream", raw)
	if err != nil {
		return nil, err
	}
	var states []StreamState
	for _, item := range m.list("streams") {
		if one, err := decodeMembers("a stream", item); err == nil {
			states = append(states, StreamState{one.text("streamId"), one.text("status")})
		}
	}
	if nested, err := decodeMembers("the stream", m["stream"]); err == nil {
		m = nested
	}
	if status := m.text("status"); !status.IsZero() {
		states = append(states, StreamState{m.text("streamId"), status})
	}
	return states, nil
}
