package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/trust"
)

// However a frame is cut, only the last characters of a secret are left.
func TestSecretsInCutFramesAreMasked(t *testing.T) {
	const secret = "dG9wLXNlY3JldC1rZXktb2YtMzItYnl0ZXMh"
	for _, frame := range []string{
		`{"delivery":{"secret":"whsec_` + secret + `"}}`,
		`{"resumeToken" : "` + secret + `\"x","a":1}`,
		`{"text":"use whsec_` + secret + ` now"}`,
		`{"access_token":"` + secret + `"}`,
		`{"webhookSecret":{"type":"raw","value":"` + secret + `"},"a":1}`,
		`{"webhookSecret": {"key" : "` + secret + `","type":"stand{ard"}}`,
	} {
		for limit := 1; limit <= len(frame); limit++ {
			got := new(Set).Frame([]byte(frame[:limit]), limit < len(frame)).Raw()
			if strings.Contains(got, secret[:5]) {
				t.Fatalf("cut at %d: %s", limit, got)
			}
		}
	}
}

// A secret is masked however it or its member is spelled.
func TestSecretsAreMaskedInEverySpelling(t *testing.T) {
	const secret = "dG9wLXNlY3JldC1rZXktb2YtMzItYnl0ZXMh"
	for in, want := range map[string]string{
		`{"s\u0065cret":"` + secret + `"}`:                                    `{"s\u0065cret":"…ZXMh"}`,
		`{"refreshToken" :` + "\n" + `"` + secret + `"}`:                      `{"refreshToken" :` + "\n" + `"…ZXMh"}`,
		`{"text":"\u0077\u0068\u0073\u0065\u0063_` + secret + `"}`:            `{"text":"whsec_…ZXMh"}`,
		`{"text":"\u0077hsec_` + secret[:20] + `\/` + secret[20:] + `"}`:      `{"text":"whsec_…ZXMh"}`,
		`{"text":"whsk_` + secret + `"}`:                                      `{"text":"…ZXMh"}`,
		`{"whsec_` + secret + `":1}`:                                          `{"whsec_…ZXMh":1}`,
		`{"text":"{\"resumeToken\":\"` + secret + `\"}"}`:                     `{"text":"{\"resumeToken\":\"…ZXMh\"}"}`,
		`{"text":"[\"{\\\"resumeToken\\\":\\\"` + secret + `\\\"}\"]"}`:       `{"text":"[\"{\\\"resumeToken\\\":\\\"…ZXMh\\\"}\"]"}`,
		`{"secret":["a","` + secret + `"],"b":"c"}`:                           `{"secret":["…","…ZXMh"],"b":"c"}`,
		`{"webhook\u0053ecret":{"type":"raw","v\u0061lue":"` + secret + `"}}`: `{"webhook\u0053ecret":{"type":"raw","v\u0061lue":"…ZXMh"}}`,
		`{"webhookSecret":{"a":{},"value":"` + secret + `"}}`:                 `{"webhookSecret":{"a":{},"value":"…ZXMh"}}`,
		"not JSON: whsec_" + secret + `, "secret": "` + secret:                `not JSON: whsec_…ZXMh, "secret": "…ZXMh`,

		// Everything else stays the same, to the byte.
		`{"secret":null,"key":"` + secret + `","caf\u00e9":"\u0000\/"}`: `{"secret":null,"key":"` + secret + `","caf\u00e9":"\u0000\/"}`,
		`{"progressToken":"` + secret + `","value":"\ud83d\ude00\u00"}`: `{"progressToken":"` + secret + `","value":"\ud83d\ude00\u00"}`,
		`]}"secret`: `]}"secret`,
	} {
		if got := new(Set).Frame([]byte(in), false).Raw(); got != want {
			t.Errorf("%s\ngives %s\n want %s", in, got, want)
		}
	}
}

// FuzzMask: whatever surrounds a secret, however its letters are escaped and wherever the
// frame is cut, its first letters are not shown. JSON stays JSON.
func FuzzMask(f *testing.F) {
	const secret = "dG9wLXNlY3JldC1rZXktb2YtMzItYnl0ZXMh"
	f.Add("text", uint64(0), byte(0), uint16(1000))
	f.Add(`{"secret":`, uint64(1), byte(1), uint16(60))
	f.Add(`\u0022"\`, uint64(0xf0f0), byte(2), uint16(70))
	f.Add("\xff\x00", ^uint64(0), byte(3), uint16(1000))
	f.Fuzz(func(t *testing.T, beside string, escapes uint64, form byte, cut uint16) {
		named := beside
		for range 4 {
			if strings.Contains(named, secret[:5]) {
				return // beside contains the secret itself
			}
			named = unescape(named)
		}
		n := 0
		spell := func(text string) string { // with some letters escaped
			var out []byte
			for i := range len(text) {
				if n++; escapes>>(n%64)&1 == 1 {
					out = fmt.Appendf(out, `\u%04x`, text[i])
				} else {
					out = append(out, text[i])
				}
			}
			return string(out)
		}
		quoted := string(trust.AppendJSONString(nil, beside))
		frame := fmt.Sprintf(`{"a":%s,"%s":"%s","b":[%s]}`, quoted, spell("webhookSecret"), spell(secret), quoted)
		switch form % 4 {
		case 1:
			frame = fmt.Sprintf(`{"a":[%s,{}],"b":%s}`, quoted, trust.AppendJSONString(nil, beside+" whsec_"+secret))
		case 2:
			frame = fmt.Sprintf(`{"a":{"%s":{"b":%s,"%s":"%s"}}}`, spell("webhookSecret"), quoted, spell("value"), spell(secret))
		case 3:
			frame = fmt.Sprintf(`{"a":%s}`, trust.AppendJSONString(nil, fmt.Sprintf(`{"a":%s,"%s":"%s"}`, quoted, spell("resumeToken"), spell(secret))))
		}
		if !json.Valid([]byte(frame)) {
			t.Fatalf("the test made no JSON: %s", frame)
		}
		whole := int(cut) >= len(frame)
		got := new(Set).Frame([]byte(frame[:min(int(cut), len(frame))]), !whole).Raw()
		clear := got
		for range 3 { // as often as it may be nested
			clear = unescape(clear)
		}
		if strings.Contains(got, secret[:5]) || strings.Contains(clear, secret[:5]) {
			t.Errorf("%s\ngives %s", frame, got)
		}
		if whole && !json.Valid([]byte(got)) {
			t.Errorf("%s\ngives no JSON: %s", frame, got)
		}
		new(Set).Frame([]byte(beside), false) // must return for any text
	})
}

func BenchmarkTraceOfAnEvent(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","method":"notifications/events/event","params":{"data":{"text":"` + strings.Repeat("word ", 150) + `"}}}`)
	set := new(Set)
	b.ReportAllocs()
	for b.Loop() {
		set.Frame(frame, false)
	}
}
