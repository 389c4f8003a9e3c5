package dialect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// cutStreams is a server whose streams are cut after one event and can be resumed. next
// answers stream/resume; state is the response to stream/poll.
func cutStreams(next func(c call) string, state string) func(c call) string {
	return func(c call) string {
		switch c.method {
		case wire.MethodStream, "tools/call":
			c.frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/stream/create","params":{"requestId":%s,"streamId":"st","resumeToken":"tok","resumeInterval":{"min":0.01,"max":5}}}`, c.id))
			c.frame(streamEvent("e1", c.id))
			c.cut()
		case wire.MethodPollOne:
			return state
		case wire.MethodResume:
			return next(c)
		}
		return notFound
	}
}

func streamEvent(id string, request json.RawMessage) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/events/event","params":{"eventId":%q,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, id, request)
}

const sketchCapabilities = `{"events":{"listChanged":false}}`

func openStream(t *testing.T, p *peer, resume string) (Stream, *recorder) {
	t.Helper()
	d, _ := p.connect(Options{})
	r := newRecorder(t)
	s, err := d.Stream(background(t), wire.StreamRequest{Name: trust.Untrusted("t"), Resume: resume}, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

func eventID(t *testing.T, n wire.Note) string {
	t.Helper()
	var p struct{ EventID string }
	if err := json.Unmarshal(n.Params, &p); err != nil {
		t.Fatal(err)
	}
	return p.EventID
}

func TestStreamsAreAdvertisedInTheHandshake(t *testing.T) {
	p := newPeer(t, sketchCapabilities, func(call) string { return notFound })
	p.connect(Options{})
	if got := p.await("the handshake", 1, isMethod("initialize")).param("capabilities", "streams"); got != "{}" {
		t.Errorf("capability streams is %q", got)
	}
}

func TestAStreamIsResumedAfterACut(t *testing.T) {
	for name, state := range map[string]string{"polled": `"result":{"streamId":"st","status":"active"}`, "without poll": notFound} {
		t.Run(name, func(t *testing.T) {
			resumes := 0
			p := newPeer(t, sketchCapabilities, cutStreams(func(c call) string {
				if c.param("streamId") != `"st"` || c.param("resumeToken") != `"tok"` {
					t.Errorf("resumed with %s", c.params)
				}
				resumes++
				original := json.RawMessage(`"the first"`)
				c.frame(streamEvent(fmt.Sprint("r", resumes), original))
				if resumes == 1 {
					c.cut()
				}
				c.frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, c.id)) // this response does not end the stream
				c.frame(streamEvent("r3", original))
				c.frame(`{"jsonrpc":"2.0","method":"notifications/stream/end","params":{"streamId":"st"}}`)
				return ""
			}, state))
			s, r := openStream(t, p, "")
			token := r.next(wire.NoteResumable).Resume
			if token == nil || token.Stream != "st" || token.Token != "tok" || token.Request == "" {
				t.Fatalf("token %+v", token)
			}
			for _, want := range []string{"e1", "r1", "r2", "r3"} {
				if strings.HasSuffix(want, "1") && want != "e1" || want == "r2" {
					r.next(wire.NoteResumed)
				}
				if got := eventID(t, r.next(wire.NoteEvent)); got != want {
					t.Errorf("event %s, want %s", got, want)
				}
			}
			if n := r.next(wire.NoteResumable); n.Resume != nil {
				t.Errorf("a stream that is over can still be resumed: %+v", n.Resume)
			}
			if err := done(t, s); err != nil {
				t.Errorf("the end of the stream is %v", err)
			}
			if n := p.count(isMethod(wire.MethodStream)); n != 1 {
				t.Errorf("%d requests, want the first alone", n)
			}
		})
	}
}

func TestAnAbandonedStreamIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct{ state, resume string }{
		"reported by poll":   {`"result":{"streamId":"st","status":"abandoned"}`, ""},
		"refused by poll":    {`"error":{"code":-32602,"message":"unknown stream"}`, ""},
		"reported by resume": {notFound, `"result":{"status":"abandoned"}`},
		"-32602 of resume":   {`"result":{"status":"active"}`, `"error":{"code":-32602,"message":"unknown stream"}`},
		"-32600 of resume":   {`"result":{"status":"active"}`, `"error":{"code":-32600,"message":"unknown stream"}`},
		"-32601 of resume":   {`"result":{"status":"active"}`, notFound},
		"NotFound of resume": {`"result":{"status":"active"}`, `"error":{"code":-32011,"message":"unknown stream"}`},
		"-32000 of resume":   {`"result":{"status":"active"}`, `"error":{"code":-32000,"message":"unknown stream"}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, sketchCapabilities, cutStreams(func(call) string { return c.resume }, c.state))
			s, r := openStream(t, p, "")
			r.next(wire.NoteResumable)
			r.next(wire.NoteEvent)
			r.next(wire.NoteAbandoned) // and not resumed before
			mustBe(t, done(t, s), session.ErrCut)
		})
	}
}

func TestAnEarlierStreamIsResumedFirst(t *testing.T) {
	earlier := wire.Resume{Request: "7", Stream: "st", Token: "tok"}.Text()
	p := newPeer(t, sketchCapabilities, cutStreams(func(c call) string {
		c.frame(streamEvent("r1", json.RawMessage("7")))
		c.frame(`{"jsonrpc":"2.0","id":7,"result":{}}`) // the response to the first request
		return ""
	}, notFound))
	s, r := openStream(t, p, earlier)
	r.next(wire.NoteResumed)
	if got := eventID(t, r.next(wire.NoteEvent)); got != "r1" {
		t.Errorf("event %s", got)
	}
	if err := done(t, s); err != nil || p.count(isMethod(wire.MethodStream)) != 0 {
		t.Errorf("%v, %d fresh requests", err, p.count(isMethod(wire.MethodStream)))
	}
}

func TestAFreshRequestFollowsAnEarlierStreamThatIsGone(t *testing.T) {
	for name, refusing := range map[string]string{"refused by poll": wire.MethodPollOne, "refused by resume": wire.MethodResume} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, sketchCapabilities, func(c call) string {
				switch c.method {
				case wire.MethodStream:
					c.frame(streamEvent("e1", c.id))
					return `"result":{}`
				case refusing:
					return `"error":{"code":-32602,"message":"unknown stream"}`
				}
				return `"result":{"status":"active"}`
			})
			s, r := openStream(t, p, wire.Resume{Stream: "old", Token: "x"}.Text())
			r.next(wire.NoteAbandoned)
			if got := eventID(t, r.next(wire.NoteEvent)); got != "e1" {
				t.Errorf("event %s", got)
			}
			if err := done(t, s); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestServersCannotSendNotesOfDialects(t *testing.T) {
	p := newPeer(t, sketchCapabilities, func(c call) string {
		for _, method := range []string{wire.NoteResumed, wire.NoteAbandoned, wire.NoteResumable, wire.NoteInterrupt, wire.NoteAnswered} {
			c.frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{}}`, method))
		}
		c.frame(`{"jsonrpc":"2.0","method":"notifications/stream/create","params":{"streamId":"st"}}`) // no token
		c.frame(streamEvent("e1", c.id))
		c.cut()
		return ""
	})
	s, r := openStream(t, p, "")
	if got := eventID(t, r.next(wire.NoteEvent)); got != "e1" {
		t.Errorf("event %s", got)
	}
	mustBe(t, done(t, s), session.ErrCut)
}

func TestALongToolCallIsResumed(t *testing.T) {
	var first json.RawMessage
	k := newDesk()
	p := newPeer(t, filterCapabilities, nil)
	p.answer = func(c call) string {
		switch {
		case c.method == "tools/call" && c.tool() == wire.ToolSubscribe:
			first = c.id
			cutStreams(nil, "")(c)
		case c.method == wire.MethodPollOne:
			return notFound
		case c.method == wire.MethodResume:
			c.frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":{"subscriptionId":"s9"}}}`, first))
			c.frame(`{"jsonrpc":"2.0","method":"notifications/stream/end","params":{"streamId":"st"}}`)
			return ""
		}
		return k.answer(c)
	}
	d, _ := p.connect(Options{})
	if _, _, id := openFiltered(t, d, filteredRequest(`{}`)); id != "s9" {
		t.Errorf("subscription %q", id)
	}
}
