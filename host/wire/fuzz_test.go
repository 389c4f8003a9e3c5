package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"eventdeck/host/trust/strict"
)

func FuzzDecodeMessages(f *testing.F) {
	for _, s := range []string{`{"id":"18","result":{}}`, `{"id":18,"method":"m","params":{"a":[1]}}`, `[{"method":"a"},7]`, `{"id":null,"error":{"code":"-1","message":{}}}`, "\xef\xbb\xbf{\"ID\":1e2,\"error\":\"x\"}", `[]`, `{"id":{"a":1},"result":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		messages, err := DecodeMessages(frame)
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%v is not malformed", err)
		}
		before := make([]json.RawMessage, len(messages))
		for i, m := range messages {
			if m.IsResponse() == (m.Method != "") || m.IsResponse() && m.IsNotification() {
				t.Errorf("neither answer, request nor notification: %+v", m)
			}
			if m.Error != nil {
				_ = m.Error.Error()
				m.Error.Detail("kind")
			}
			Note{Params: m.Params}.Route()
			if m.Params != nil && !json.Valid(m.Params) {
				t.Errorf("params are not JSON: %q", m.Params)
			}
			before[i] = slices.Clone(m.Params)
		}
		for i := range frame {
			frame[i] = 'x'
		}
		for i, m := range messages {
			if !bytes.Equal(m.Params, before[i]) {
				t.Error("params are not a copy")
			}
		}
	})
}

func FuzzDecodePoll(f *testing.F) {
	for _, s := range []string{`{"events":[{"eventId":"e"},null],"cursor":"c","hasMore":true,"nextPollMs":1e999}`, `{"cursor":null,"nextPollSeconds":"-5"}`, `{"cursor":"\ud800"}`, "{\"cursor\":\"\xed\xb8\x81\xed\xb8\x81\xed\"}",
		"{\"cursor\":\"\xed\xa0\x80\xed\xb0\x80\"}", `{}`, `null`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := DecodePoll(raw)
		if err != nil {
			return
		}
		if d := r.NextPoll; d > 366*24*time.Hour || d < -366*24*time.Hour {
			t.Errorf("pause %v", d)
		}
		for _, e := range r.Events {
			if !bytes.Contains(raw, e) {
				t.Errorf("event %q is not as it came", e)
			}
		}
		if r.Cursor.HasText() {
			sent, err := PollRequest{At: Position{Cursor: r.Cursor.Text, Valid: true}}.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if back := DecodeMark(sent).Cursor; back != r.Cursor {
				t.Errorf("cursor %q goes back as %q", r.Cursor.Text.Raw(), back.Text.Raw())
			}
		}
	})
}

func FuzzDecodeList(f *testing.F) {
	for _, s := range []string{`{"events":[{"name":"a","delivery":["push",1],"inputSchema":{}},{"delivery":null},7],"nextCursor":"p"}`, `{"events":null}`, `{"events":[{"name":"a","inputSchema":true,"cursorless":1}]}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := DecodeList(raw)
		if err != nil {
			return
		}
		for _, d := range r.Types {
			if d.Name.IsZero() || d.InputSchema != nil && !json.Valid(d.InputSchema) {
				t.Errorf("%+v", d)
			}
		}
	})
}

func FuzzDecodeSubscribe(f *testing.F) {
	for _, s := range []string{`{"id":"s","refreshBefore":"2026-07-28T12:00:00Z","deliveryStatus":{"active":false,"retryAfterMs":5}}`, `{"refreshBefore":null,"cursor":null}`, `{"refreshBefore":"2026-07-28 12:00","deliveryStatus":[]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := DecodeSubscribe(raw)
		if err == nil && !r.RefreshBefore.IsZero() && !r.Expires {
			t.Errorf("a time without an expiry: %+v", r)
		}
	})
}

func FuzzParseOccurrence(f *testing.F) {
	for _, s := range []string{`{"eventId":"e","name":"n","timestamp":"t","cursor":"c","data":{"a":1.50}}`, `{"eventId":"e","eventId":"f"}`, `{"EventId":"e"}`, `{"eventId":"e","data":[{"k":1,"k":1}]}`, ` {"eventId":"\ud800","data":null} `, `{"eventId":"e"}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		o, err := ParseOccurrence(raw, strict.Limits{})
		if !bytes.Equal(raw, before) {
			t.Fatal("the text was changed")
		}
		if err != nil {
			if !errors.Is(err, strict.ErrRefused) {
				t.Errorf("%v is no refusal", err)
			}
			return
		}
		if o.EventID.IsZero() || !bytes.Equal(o.Raw, before) {
			t.Errorf("%+v", o)
		}
		if len(o.Data) > 0 {
			i := bytes.Index(o.Raw, o.Data)
			if i < 0 || !json.Valid(o.Data) {
				t.Fatalf("data %q is no part of the text", o.Data)
			}
			// The same memory: what changes there changes here.
			o.Data[0] ^= 1
			if bytes.Equal(o.Raw, before) {
				t.Error("data is a copy")
			}
		}
	})
}

func FuzzDecodeFault(f *testing.F) {
	for _, s := range []string{`{"error":{"code":-32012,"message":"no","data":{"kind":"event"}}}`, `{"code":"-1","reason":"r"}`, `{"error":"gone"}`, `{"cursor":null,"truncated":true}`, `{"error":null}`, `7`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e := DecodeFault(raw)
		if e == nil {
			t.Fatal("no error")
		}
		for _, c := range e.Error() {
			if c < 0x20 || c == 0x7f || 0x80 <= c && c < 0xa0 {
				t.Errorf("%q can act on a terminal", e.Error())
			}
		}
		if m := DecodeMark(raw); m.Cursor.Null && m.Cursor.HasText() {
			t.Errorf("%+v", m)
		}
	})
}
