package wire

import (
	"encoding/json"
	"testing"
	"time"
)

func TestDecodeResume(t *testing.T) {
	for raw, want := range map[string]Resume{
		`{"requestId":"7","streamId":"s","resumeToken":"t","resumeInterval":{"min":1,"max":30}}`:             {"7", "s", "t", time.Second, 30 * time.Second},
		`{"requestId":7,"stream":{"streamId":"s","resumeToken":"t","resumeInterval":{"max":1e12,"min":-1}}}`: {"7", "s", "t", 0, longestMax},
		`{"streamId":"s","resumeToken":"t","requestId":null,"resumeInterval":{"min":3600}}`:                  {"", "s", "t", longestMin, 0},
	} {
		if got, err := DecodeResume(json.RawMessage(raw)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
	for _, raw := range []string{`{"streamId":"s"}`, `{"resumeToken":"t"}`, `7`, `{"streamId":7,"resumeToken":"t"}`} {
		if got, err := DecodeResume(json.RawMessage(raw)); err == nil {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

func TestResumeSurvivesItsText(t *testing.T) {
	for _, r := range []Resume{{"1", "s", "t", time.Second, time.Minute}, {"", "s\xff", "t\x00\"", 0, 0}} {
		if got, ok := ParseResume(r.Text()); !ok || got != r {
			t.Errorf("%+v became %+v", r, got)
		}
	}
	for _, text := range []string{"", "{}", "7", `{"token":"dA=="}`} {
		if r, ok := ParseResume(text); ok {
			t.Errorf("%q is taken as %+v", text, r)
		}
	}
	raw, err := json.Marshal(Resume{"1", "s", "t", 0, 0})
	if err != nil || string(raw) != `{"streamId":"s","resumeToken":"t"}` {
		t.Errorf("params %s, %v", raw, err)
	}
}

func TestDecodeStreams(t *testing.T) {
	for raw, want := range map[string]string{
		`{"streamId":"s","status":"abandoned"}`:                               "abandoned",
		`{"stream":{"streamId":"s","status":"active"}}`:                       "active",
		`{"streams":[{"streamId":"s","status":"ended"},7],"nextCursor":null}`: "ended",
	} {
		got, err := DecodeStreams(json.RawMessage(raw))
		if err != nil || len(got) != 1 || got[0].Status.Raw() != want || got[0].Stream.Raw() != "s" || got[0].Gone() != (want == "abandoned") {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
	if got, err := DecodeStreams(json.RawMessage(`{}`)); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := DecodeStreams(json.RawMessage(`7`)); err == nil {
		t.Error("a number is taken")
	}
}

func FuzzDecodeResume(f *testing.F) {
	f.Add([]byte(`{"requestId":"7","streamId":"s","resumeToken":"t","resumeInterval":{"min":1,"max":30}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if r, err := DecodeResume(raw); err == nil {
			if r.Min < 0 || r.Min > longestMin || r.Max < 0 || r.Max > longestMax {
				t.Errorf("%+v", r)
			}
			if again, ok := ParseResume(r.Text()); !ok || again != r {
				t.Errorf("%+v became %+v", r, again)
			}
		}
		_, _ = DecodeStreams(raw) // no response may cause a panic
	})
}
