package redact

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

func hiding(args ...string) *Set {
	h := new(Set)
	for i := 0; i < len(args); i += 2 {
		h.Add(Value{Member: args[i], Secret: event.NewSecret(args[i+1])})
	}
	return h
}

// Values are masked in every spelling; text that only resembles them stays.
func TestArgumentsAreMaskedInEverySpelling(t *testing.T) {
	h := hiding("password", "hunter2", "pin", "4711", "code", "471100", "long", `say "open sesame" / ü`, "on", "true", "mark", "x\ny")
	for in, want := range map[string]string{
		`{"params":{"arguments":{"password":"hunter2","team":"a"}}}`: `{"params":{"arguments":{"password":"***","team":"a"}}}`,
		`{"password":"h\u0075nter2"}`:                                `{"password":"***"}`,
		`{"a":"{\"b\":\"{\\\"password\\\":\\\"hunter2\\\"}\"}"}`:     `{"a":"{\"b\":\"{\\\"password\\\":\\\"***\\\"}\"}"}`,
		`{"uri":"event://x/hunter2?q=hunter2&p=%68unter%32"}`:        `{"uri":"event://x/***?q=***&p=***"}`,
		`{"message":"no access with password hunter2"}`:              `{"message":"no access with password ***"}`,
		`{"hunter2":1}`:                       `{"***":1}`,
		`no access with password hunter2!`:    `no access with password ***!`,
		`rejected {"password":"h\u0075nter2"`: `rejected {"password":"***"`,

		// Quotes, spaces and other letters.
		`{"long":"say \"open sesame\" \/ \u00fc"}`:             `{"long":"***"}`,
		`{"uri":"x?l=say+%22open+sesame%22+%2f+%C3%bc"}`:       `{"uri":"x?l=***"}`,
		`{"uri":"x?l=say%20%22open%20sesame%22%20/%20%c3%BC"}`: `{"uri":"x?l=***"}`,
		`it was say "open sesame" / ü, was it`:                 `it was ***, was it`,
		`{"text":"it was say \"open sesame\" \/ \u00fc"}`:      `{"text":"it was ***"}`,

		// Short values only in their member; numbers only as a whole.
		`{"pin":4711,"id":4711,"a":[{"pin":"4711"}]}`:               `{"pin":"***","id":4711,"a":[{"pin":"***"}]}`,
		`{"pin":[[{"x":1}],4711],"n":47110}`:                        `{"pin":[[{"x":1}],"***"],"n":47110}`,
		`{"p\u0069n":"47\u00311"}`:                                  `{"p\u0069n":"***"}`,
		`{"s":"{\"pin\":4711}"}`:                                    `{"s":"{\"pin\":\"***\"}"}`,
		`{"on":true,"off":true}`:                                    `{"on":"***","off":true}`,
		`{"id":471100,"at":1471100,"s":"code 471100, not 4711001"}`: `{"id":"***","at":1471100,"s":"code ***, not 4711001"}`,
		`{"mark":"x\ny","other":"x\ny"}`:                            `{"mark":"***","other":"x\ny"}`,

		// Everything else stays the same, to the byte.
		`{"password":"hunter","caf\u00e9":"\u0000\/ 100%","s":"%zz %6"}`: `{"password":"hunter","caf\u00e9":"\u0000\/ 100%","s":"%zz %6"}`,
	} {
		if got := h.Frame([]byte(in), false).Raw(); got != want {
			t.Errorf("%s\ngives %s\n want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"no access with password hunter2":     "no access with password ***",
		"more than 200 bytes; it begins hunt": "more than 200 bytes; it begins ***",
		"clipped hunter…":                     "clipped ***…",
		"clipped hunter… (reason of hunte…)":  "clipped ***… (reason of ***…)",
		"first hunte\nsecond hunt":            "first ***\nsecond ***",
		"a hunt is over":                      "a hunt is over",
		"":                                    "",
	} {
		if got := h.Text(trust.Untrusted(in)).Raw(); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

// A server that encodes a secret does not get it shown.
func TestKnownSecretsAreMaskedInEveryEncoding(t *testing.T) {
	const secret, key = "s3cr?t>of~the/operator", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAAECAwQ="
	h := hiding("", secret)
	h.AddGiven(event.NewSecret("whsec_" + key))
	for _, clear := range []string{secret, key} {
		forms := map[string]string{
			"hex": hex.EncodeToString([]byte(clear)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(clear))),
			"in a URL": url.QueryEscape(clear), "in a path": url.PathEscape(clear), "in JSON": strings.Trim(fmt.Sprintf("%+q", clear), `"`),
		}
		for before := range 3 {
			padded := strings.Repeat("a", before) + clear + ":z"
			forms[fmt.Sprint("base64 at ", before)] = base64.StdEncoding.EncodeToString([]byte(padded))
			forms[fmt.Sprint("base64url at ", before)] = base64.URLEncoding.EncodeToString([]byte(padded))
		}
		for form, text := range forms {
			for where, in := range map[string]string{"a text": "refused: " + text + ", as told", "JSON": `{"reason":"refused: ` + text + `"}`} {
				got := h.String(in)
				if !strings.Contains(got, Shown) || len(text) > 12 && strings.Contains(got, text[6:len(text)-6]) {
					t.Errorf("%s in %s: %s", form, where, got)
				}
			}
		}
	}
}

// Shapes of secrets are masked in the output and the responses of servers; words about
// secrets stay.
func TestShapesOfSecretsInTexts(t *testing.T) {
	var none *Set
	for in, want := range map[string]string{
		"cannot post to https://hooks.example/services/T000/B000/a1B2c3D4e5F6g7H8i9J0": "cannot post to https://hooks.example/services/T000/B000/…",
		"export PAGER_TOKEN=abcd1234 failed":                                           "export PAGER_TOKEN=… failed",
		`API_KEY="abcd 1234"`:                                                          `API_KEY="… 1234"`,
		"DB_PASSWORD=hunter2 DB_HOST=db":                                               "DB_PASSWORD=… DB_HOST=db",
		"token ghp_aB3dE5gH7jK9mN1pQ3sT5 was refused":                                  "token …3sT5 was refused",
		"the key sk-proj-aB3dE5gH7jK9 is no key":                                       "the key …7jK9 is no key",
		"no PAGER_TOKEN is set, KEY= is empty":                                         "",
		"code=ECONNREFUSED key=value, MONKEYS=many":                                    "",
		"see https://docs.example/errors/rate-limits":                                  "",
	} {
		if want == "" {
			want = in
		}
		got := none.String(in)
		if got != want {
			t.Errorf("%s\n gives %s\n want %s", in, got, want)
		}
	}
}

// A cut frame keeps no more than the first few letters of a secret.
func TestValuesInCutFramesAreMasked(t *testing.T) {
	h := hiding("password", `hunter "2"/%ü of the north`, "pin", "98765", "code", "9876543210")
	for _, frame := range []string{
		`{"password":"hunter \"2\"/%\u00fc of the north","a":1}`,
		`{"uri":"x?p=hunter+%222%22%2f%25%c3%bc+of+the+north&a"}`,
		`{"text":"{\"password\":\"hunter \\\"2\\\"\\/%ü of the north\"}"}`,
		`{"pin":"98765"}`, `{"pin":98765}`, `{"text":"code 9876543210 it was"}`, `{"code":9876543210}`,
	} {
		for limit := 1; limit <= len(frame); limit++ {
			got := h.Frame([]byte(frame[:limit]), limit < len(frame)).Raw()
			if strings.Contains(got, "hunt") || strings.Contains(got, "9876") {
				t.Errorf("cut at %d: %s", limit, got)
			}
		}
	}
}

// Values issued by a server are masked if they look like keys. The oldest are dropped;
// those of the operator stay.
func TestGivenSecretsAreBounded(t *testing.T) {
	const key = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAAECAwQ="
	h := new(Set)
	h.AddSecrets(event.NewSecret("of the operator"))
	h.AddGiven(event.NewSecret("refused"), event.NewSecret("whsec_interrupted"), event.NewSecret("notifications/events/error"), event.Secret{})
	h.AddGiven(event.NewSecret("whsec_"+key), event.NewSecret("tokenOfTheServer1"))
	text := "refused interrupted notifications/events/error; of the operator, " + key + ", tokenOfTheServer1."
	if got, want := h.String(text), "refused interrupted notifications/events/error; ***, ***, ***."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	for i := range maxGiven {
		h.AddGiven(event.NewSecret(fmt.Sprintf("%04da1b2c3d4e5f6g7h8%d", i%10_000, i)))
	}
	if got, want := h.String(text), "refused interrupted notifications/events/error; ***, "+key+", tokenOfTheServer1."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got := h.String("0000a1b2c3d4e5f6g7h80 9999a1b2c3d4e5f6g7h819999"); got != "*** ***" || len(h.given) != maxGiven {
		t.Errorf("of %d it says %q", len(h.given), got)
	}
}

// A masked error says what happened, and matches the original.
func TestMaskedErrors(t *testing.T) {
	h := hiding("password", "hünter2")
	answer := &wire.Error{Code: -32012, Message: trust.Untrusted("no access with password hünter2"), Data: json.RawMessage(`{"reason":"hünter2","kind":"event"}`)}
	err := fmt.Errorf("events/poll: HTTP 403: hünter2: %w", answer)
	got := h.Error(fmt.Errorf("%w: of hünter2: %w", wire.ErrMalformed, err))
	if strings.Contains(got.Error(), "nter2") || !strings.Contains(got.Error(), "no access with password ***") {
		t.Errorf("it says %v", got)
	}
	var seen *wire.Error
	if !errors.Is(got, wire.ErrMalformed) || wire.NameFrom(got) != wire.Forbidden || !wire.Is(got, wire.Forbidden, "kind", "event") || !errors.As(got, &seen) {
		t.Errorf("it is no longer what it was: %v", got)
	}
	if seen.Message.Raw() != "no access with password ***" || seen.Detail("reason").Raw() != "***" || answer.Detail("reason").Raw() != "hünter2" {
		t.Errorf("the answer is %s %s", seen.Message.Raw(), seen.Data)
	}
	if again := fmt.Errorf("again: %w", got); strings.Contains(again.Error(), "nter2") {
		t.Errorf("wrapped it says %v", again)
	}
	for _, plain := range []error{nil, wire.ErrMalformed} {
		if h.Error(plain) != plain {
			t.Errorf("%v is not the same", plain)
		}
	}
	var none *Set
	if none.Error(err) != err || none.Text(seen.Message) != seen.Message || new(Set).String("hünter2") != "hünter2" {
		t.Error("nothing is hidden, and something was masked")
	}
	if got := string(hiding("a", `1,2,3,4`).JSON(json.RawMessage(`[1,2,3,4]`))); got != `{}` {
		t.Errorf("what would be no JSON is %s", got)
	}
}

// FuzzValues: however a value is spelled, it is masked, and JSON stays JSON.
func FuzzValues(f *testing.F) {
	f.Add("hunter2", "beside", uint64(0), byte(0))
	f.Add(`a "b" \c`+"\n", `{"pin":`, uint64(0xf0f0), byte(1))
	f.Add("100%25+", "%31", ^uint64(0), byte(2))
	f.Add("aaaaaa", "aaaaa", uint64(5), byte(3))
	f.Add("0\x00췵=m〝", "", uint64(0), byte(4))                              // an escape of six bytes, and six more that end within a character
	f.Add("A\u07bd۽\U0007df7dҒ\x00\x00\x04\x000", "", uint64(207), byte(2)) // an escape before two that are one character
	f.Fuzz(func(t *testing.T, value, beside string, escapes uint64, form byte) {
		for _, part := range []string{"***", "z"} { // parts of the text around it, and of its mask
			if strings.Contains(value, part) || strings.Contains(part, value) {
				return
			}
		}
		if len(value) < leastValue || strings.ContainsAny(value, "\ufffd") || strings.Trim(value, "0123456789,:{}[]\"") == "" {
			return
		}
		h := hiding("p", value)
		n := 0
		spell := func(text string) []byte { // with some characters escaped
			out := []byte{'"'}
			for _, r := range text {
				if n++; escapes>>(n%64)&1 == 1 && r < 0x10000 {
					out = fmt.Appendf(out, `\u%04x`, r)
					continue
				}
				quoted := trust.AppendJSONString(nil, string(r))
				out = append(out, quoted[1:len(quoted)-1]...)
			}
			return append(out, '"')
		}
		text := "z" + value + "z"
		switch form % 4 {
		case 1:
			text = "z" + url.QueryEscape(value) + "z"
		case 2:
			text = string(append(append([]byte(`{"q":`), spell(value)...), '}'))
		}
		frame := fmt.Sprintf(`{"a":%s,"b":%s}`, spell(text), spell("z"))
		if !json.Valid([]byte(frame)) {
			return // an invalid text cannot be sent either
		}
		got := h.Frame([]byte(frame), false).Raw()
		if strings.Contains(got, value) {
			t.Errorf("%q in %s\ngives %s", value, frame, got)
		}
		if !strings.Contains(got, Shown) {
			t.Errorf("%q in %s\nis not masked: %s", value, frame, got)
		}
		h.String(beside) // must return for any text
		h.JSON([]byte(beside))
	})
}

func BenchmarkTraceOfAnEventWithHiddenArguments(b *testing.B) {
	for name, text := range map[string]string{"plain": "word ", "escaped": `wo\nd `} {
		b.Run(name, func(b *testing.B) {
			frame := []byte(`{"jsonrpc":"2.0","method":"notifications/events/event","params":{"data":{"text":"` + strings.Repeat(text, 100) + `"}}}`)
			h := hiding("password", "hunter2", "pin", "4711")
			for range 1000 {
				h.AddGiven(event.NewSecret(rand.Text()))
			}
			b.ReportAllocs()
			for b.Loop() {
				h.Frame(frame, false)
			}
		})
	}
}
