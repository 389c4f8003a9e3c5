package trust_test

import (
	"strings"
	"testing"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
	"eventdeck/host/trust/internal/runes"
	"eventdeck/host/trust/internal/trusttest"
)

func TestTokens(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                                  "plain",
		"a\x1b[2J":                               `a\x1b[2J`,
		`a\x1b[2J`:                               `a\\x1b[2J`,
		"a\\\x1b":                                `a\\\x1b`,
		`C:\temp`:                                `C:\temp`,
		`C:\users`:                               `C:\\users`,
		"a\u009bb":                               `a\u009bb`,
		"a\x9bb":                                 `a\x9bb`,
		"\u202e":                                 `\u202e`,
		"‹x›":                                    "‹‹x›",
		strings.Repeat("\a", 200) + "x":          `‹\x07×200›x`,
		"👨\u200d👩\u200d👧":                        "👨\u200d👩\u200d👧",
		"a\u200db":                               `a\u200db`,
		"می\u200cخواهم":                          "می\u200cخواهم",
		"葛\U000e0100城":                           "葛\U000e0100城",
		"❤\ufe0f 1\ufe0f\u20e3 a\ufe0f":          "❤\ufe0f 1\ufe0f\u20e3 " + `a\ufe0f`,
		"\U0001f3f4" + runes.Tagged("gbeng"):     "\U0001f3f4" + runes.Tagged("gbeng"),
		"e\u0301":                                "e\u0301",
		"\u0301e":                                `\u0301e`,
		"a\u00a0b":                               `a\u00a0b`,
		"日本\u3000語":                              "日本\u3000語",
		"a\ufdfdb":                               `a\ufdfdb`,
		"x" + runes.Tagged("hi")[:8]:             "x‹tags×2 \\U000e0068… \"hi\" #019a5218›",
		"\ue0b0\ufdd0":                           `\ue0b0\ufdd0`,
		string(jsontext.AppendRune(nil, 0xd83d)): `\ud83d`,
		"\r\n":                                   `\x0d\x0a`,
		"Z" + strings.Repeat("\u0301", 9):        "Z\u0301\u0301\u0301\u0301‹+5 marks #",
	} {
		if got := trust.Line(trust.Untrusted(in)).Plain(); got != want && !(strings.HasSuffix(want, "#") && strings.HasPrefix(got, want)) {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
		trusttest.CheckText(t, in)
	}
}

func TestJSONView(t *testing.T) {
	raw := []byte(`{"b":[1e999999,{}],"a\u001b":"x\ny\u202e\t\"é\"","c":[]}`)
	var got []string
	for _, l := range trust.JSON(raw, 0) {
		got = append(got, l.Plain())
	}
	want := []string{
		`{`,
		`  "b": [`,
		`    1e999999,`,
		`    {}`,
		`  ],`,
		`  "a\u001b": "x\n`,
		`    y\u202e\t\"é\"",`,
		`  "c": []`,
		`}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func FuzzRender(f *testing.F) {
	for _, s := range []string{"", "a\\x1b\x1b", "‹\u0301‹", "👩🏽\u200d🚀\u200d", "\U0001f3fb\u0600a", "ക്ക\u0d4e", "\xed\xa0\xbd\xed\xb8\x80", "한\u1100\u1161", strings.Repeat("\u200b\u200c", 20), "AAA\ue850\x7f\u04ac\u106d", "🏀\u200d\xa9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { trusttest.CheckText(t, s) })
}
