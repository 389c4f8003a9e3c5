package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// maxLine bounds a line that is read back, in bytes: the largest event with its exact bytes
// and every byte of its data escaped.
const maxLine = 64 << 20

// ErrLine: a line is not one of [AppendLine]. The text names the line and what is wrong
// with it.
var ErrLine = errors.New("not a line of an export")

// Read reads the records of an [NDJSON] export and passes them to fn, until fn returns an
// error. Lines with exact bytes give the exported records; others give the data, but not
// its original bytes. Sequence numbers are those of the file. Empty lines are skipped.
// Nothing in the file is trusted: payloads are parsed strictly, as on arrival.
//
// Errors: [ErrLine], those of r and of fn.
func Read(r io.Reader, fn func(*event.Record) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for s.Scan() {
		n++
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		record, err := readLine(line)
		if err != nil {
			return fmt.Errorf("line %d: %w: %w", n, ErrLine, err)
		}
		if err := fn(record); err != nil {
			return err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d: %w: it has more than %d MiB", n+1, ErrLine, maxLine>>20)
	}
	return s.Err()
}

// line is a decoded line.
type line struct {
	Seq          uint64
	Kind         event.Kind
	Server       string
	Type         trust.Text
	Subscription event.SubID
	Mode         event.Mode
	EventID      trust.Text
	Timestamp    trust.Text
	ReceivedAt   time.Time
	Cursor       *cursor
	Data         json.RawMessage
	Raw          []byte
	Flags        []string

	Subscribed, Priority, Batch trust.Text
	Tags                        []trust.Text
	Meta                        json.RawMessage `json:"_meta"`

	Cause    event.Cause
	From, To time.Time
	Certain  bool

	State    event.State
	Evidence string
	Error    trust.Text

	Reason trust.Text

	WebhookID trust.Text
	Replayed  bool
}

// cursor is a cursor as [event.Cursor.AppendJSON] writes it, other than null.
type cursor event.Cursor

// UnmarshalJSON implements [json.Unmarshaler].
func (c *cursor) UnmarshalJSON(raw []byte) error {
	var text trust.Text
	if raw[0] == '"' {
		err := json.Unmarshal(raw, &text)
		*c = cursor(event.At(text))
		return err
	}
	var n json.Number
	err := json.Unmarshal(raw, &n)
	*c = cursor{Text: trust.Untrusted(n.String()), Valid: true, Number: true}
	return err
}

func readLine(text []byte) (*event.Record, error) {
	if _, err := strict.ParseObject(text, strict.Limits{Bytes: maxLine}); err != nil {
		return nil, err
	}
	var in line
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	r := &event.Record{
		Seq: in.Seq, Kind: in.Kind, Sub: in.Subscription, Server: in.Server, Type: in.Type, Mode: in.Mode, ReceivedAt: in.ReceivedAt.UTC(),
		EventID: in.EventID, Timestamp: in.Timestamp, Flags: in.Flags, Reason: in.Reason, Raw: in.Raw,
		WebhookID: in.WebhookID, Replayed: in.Replayed,
	}
	if in.Cursor != nil {
		r.Cursor = event.Cursor(*in.Cursor)
	}
	switch in.Kind {
	case event.KindGap:
		r.Gap = &event.Gap{Cause: in.Cause, From: in.From.UTC(), To: in.To.UTC(), Certain: in.Certain}
	case event.KindState:
		r.State = &event.StateChange{State: in.State, Evidence: in.Evidence, Error: in.Error}
	case event.KindEvent:
		l := event.Labels{Priority: in.Priority, Tags: in.Tags, Batch: in.Batch}
		if !in.Subscribed.IsZero() {
			r.Type, l.Name = in.Subscribed, in.Type
		}
		if !l.Name.IsZero() || !l.Priority.IsZero() || !l.Batch.IsZero() || len(l.Tags) > 0 {
			r.Labels = &l
		}
		if err := in.payload(r); err != nil {
			return r, err
		}
		r.Flags = noticed(r)
	}
	return r, nil
}

// noticed returns the flags of an event's line and those of a new scan of its payload: a
// line must not hide flags by leaving them out.
func noticed(r *event.Record) []string {
	raw := r.Raw
	if len(raw) == 0 {
		raw = r.Data
	}
	flags := r.Flags
	add := func(flag string) {
		if !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
	}
	if len(raw) > 0 {
		report := scanned(r, raw)
		for _, f := range report.Flags {
			add(string(f))
		}
		if report.Badge {
			add(event.FlagBadge)
		}
	}
	return flags
}

// payload sets the data and the _meta of an event. If the line has its exact bytes, they are parts
// of them: the member "data", "payload" in events of SEP-1803, or, for a changed resource, all of
// them but "_meta"; the member "_meta", "metadata" in events of MCPE.
func (in *line) payload(r *event.Record) error {
	none := in.Data == nil || string(in.Data) == "null"
	if len(in.Meta) > 0 && in.Meta[0] == '{' {
		r.Meta = bytes.Clone(in.Meta)
	}
	if in.Raw == nil {
		if !none {
			r.Data = bytes.Clone(in.Data)
		}
		return nil
	}
	members, err := strict.ParseObject(in.Raw, strict.Limits{Bytes: maxLine})
	if err != nil {
		return fmt.Errorf("its exact bytes: %w", err)
	}
	parts := []json.RawMessage{in.Raw, strict.Without(in.Raw, "_meta")}
	for _, m := range members {
		switch m.Key.Raw() {
		case "data":
			parts = append(parts, m.Value)
			none = none && string(m.Value) == "null"
		case "payload":
			parts = append(parts, m.Value)
		case "_meta", "metadata":
			if bytes.Equal(trust.CompactJSON(m.Value), trust.CompactJSON(in.Meta)) {
				r.Meta = m.Value
				in.Meta = nil
			}
		}
	}
	if r.Meta != nil && in.Meta != nil {
		return errors.New("its _meta differs from its exact bytes")
	}
	for _, part := range parts {
		if bytes.Equal(trust.CompactJSON(part), trust.CompactJSON(in.Data)) {
			r.Data = part
			return nil
		}
	}
	if !none {
		return errors.New("its data differs from its exact bytes")
	}
	return nil
}

// check refuses what no export contains, and text that a screen would show as the host's
// own.
func (in *line) check() error {
	switch in.Kind {
	case event.KindEvent, event.KindGap, event.KindState, event.KindRejected:
	default:
		return fmt.Errorf("kind %q is not event, gap, state or rejected", in.Kind)
	}
	switch {
	case in.Subscription == "" || in.Server == "":
		return errors.New("the subscription or the server is missing")
	case in.ReceivedAt.IsZero():
		return errors.New("receivedAt is missing")
	case in.Kind == event.KindEvent && in.EventID.IsZero():
		return errors.New("the event has no eventId")
	}
	own := append([]string{in.Server, string(in.Subscription), string(in.Mode), string(in.Cause), string(in.State), in.Evidence}, in.Flags...)
	for _, text := range own {
		if len(text) > 4<<10 || trust.Line(trust.Untrusted(text)).Plain() != text {
			return fmt.Errorf("%v is no text of the host", trust.Untrusted(text[:min(len(text), 100)]))
		}
	}
	for _, flag := range in.Flags {
		if len(flag) > 64 || strings.Trim(flag, "abcdefghijklmnopqrstuvwxyz0123456789-._") != "" {
			return fmt.Errorf("%v is no flag", trust.Untrusted(flag))
		}
	}
	return nil
}
