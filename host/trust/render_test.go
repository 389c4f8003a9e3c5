package trust

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// checkSafe fails when a rendered line could act on a terminal, hides a code
// point, or has another width than it says.
func checkSafe(t *testing.T, what string, r Rendered) {
	t.Helper()
	s := r.Plain()
	if !utf8.ValidString(s) {
		t.Fatalf("%s: invalid UTF-8 in %q", what, s)
	}
	for u := (units{s: s}); u.i < len(s); {
		w := u.next()
		joiner := w.r == zwj || w.r == zwnj || w.r == 0x3000 // at an end of a wrapped line
		if w.class != plain && !(joiner && what != "Line") {
			t.Fatalf("%s: %q at %d is shown raw in %q", what, w.r, w.start, s)
		}
	}
	if got := ansi.StringWidth(s); got != r.Width {
		t.Fatalf("%s: says %d cells, has %d: %q", what, r.Width, got, s)
	}
	if got := ansi.StringWidth("│" + s + "│"); got != r.Width+2 {
		t.Fatalf("%s: %d cells between borders, not %d: %q", what, got-2, r.Width, s)
	}
	sum := 0
	for _, seg := range r.Segments {
		if seg.Text == "" {
			t.Fatalf("%s: empty segment in %q", what, s)
		}
		sum += ansi.StringWidth(seg.Text)
	}
	if sum != r.Width {
		t.Fatalf("%s: segments have %d cells, the line %d: %q", what, sum, r.Width, s)
	}
}

// unLine reads the text back from the plain one-line form, as far as no run
// was collapsed. It is the proof that the form is injective.
func unLine(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], tokenOpen):
			n := 0
			for strings.HasPrefix(s[i:], tokenOpen) {
				i += len(tokenOpen)
				n++
			}
			if n%2 == 1 {
				return "", false
			}
			b.WriteString(strings.Repeat(tokenOpen, n/2))
		case s[i] == '\\':
			n := 0
			for i < len(s) && s[i] == '\\' {
				i++
				n++
			}
			if i == len(s) || !strings.ContainsRune("xuU", rune(s[i])) {
				if strings.HasPrefix(s[i:], tokenOpen) {
					return "", false
				}
				b.WriteString(strings.Repeat(`\`, n))
				continue
			}
			b.WriteString(strings.Repeat(`\`, n/2))
			if n%2 == 0 {
				continue
			}
			digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]
			var r rune
			fmt.Sscanf(s[i+1:i+1+digits], "%x", &r)
			if digits == 2 && r >= 0x80 {
				b.WriteByte(byte(r))
			} else {
				b.Write(appendRune(nil, r))
			}
			i += 1 + digits
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String(), true
}

func checkText(t *testing.T, s string) {
	t.Helper()
	line := Line(Text{s})
	checkSafe(t, "Line", line)
	if back, ok := unLine(line.Plain()); ok && back != s {
		t.Fatalf("Line(%q) = %q, which reads as %q", s, line.Plain(), back)
	}
	for _, width := range []int{1, 2, 7, 20} {
		c := line.Clip(width)
		checkSafe(t, "Clip", c)
		if c.Width > width {
			t.Fatalf("Clip(%d) has %d cells: %q", width, c.Width, c.Plain())
		}
		for _, view := range [][]Rendered{Block(Text{s}, width), Escaped(Text{s}, width), JSON(AppendJSONString(nil, s), width)} {
			for _, l := range view {
				checkSafe(t, "view", l)
				if l.Width > width {
					t.Fatalf("a line has %d cells, at most %d are there: %q", l.Width, width, l.Plain())
				}
			}
		}
	}
	// The safe form of a text, taken as a text, has another safe form: nothing
	// can imitate a token.
	if p := line.Plain(); p != s && Line(Text{p}).Plain() == p {
		t.Fatalf("Line(%q) = %q is its own safe form", s, p)
	}
	if p := plainLines(JSON(AppendJSONString(nil, s), 0)); p == plainLines(JSON(AppendJSONString(nil, line.Plain()), 0)) && line.Plain() != s {
		t.Fatalf("the JSON views of %q and %q are alike: %s", s, line.Plain(), p)
	}
	q := AppendJSONString(nil, s)
	if !json.Valid(q) {
		t.Fatalf("AppendJSONString(%q) = %q is no JSON", s, q)
	}
	if utf8.ValidString(s) {
		var back string
		if err := json.Unmarshal(q, &back); err != nil || back != s {
			t.Fatalf("AppendJSONString(%q) = %q reads as %q, %v", s, q, back, err)
		}
	}
	for _, c := range CompactJSON([]byte(`{` + string(q) + `:` + string(q) + `}`)) {
		if c < 0x20 || c == 0x7f {
			t.Fatalf("CompactJSON leaves %q", c)
		}
	}
}

func TestTokens(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                           "plain",
		"a\x1b[2J":                        `a\x1b[2J`,
		`a\x1b[2J`:                        `a\\x1b[2J`,
		"a\\\x1b":                         `a\\\x1b`,
		`C:\temp`:                         `C:\temp`,
		`C:\users`:                        `C:\\users`,
		"a\u009bb":                        `a\u009bb`,
		"a\x9bb":                          `a\x9bb`,
		"\u202e":                          `\u202e`,
		"‹x›":                             "‹‹x›",
		strings.Repeat("\a", 200) + "x":   `‹\x07×200›x`,
		"👨\u200d👩\u200d👧":                 "👨\u200d👩\u200d👧",
		"a\u200db":                        `a\u200db`,
		"می\u200cخواهم":                   "می\u200cخواهم",
		"葛\U000e0100城":                    "葛\U000e0100城",
		"❤\ufe0f 1\ufe0f\u20e3 a\ufe0f":   "❤\ufe0f 1\ufe0f\u20e3 " + `a\ufe0f`,
		"\U0001f3f4" + tagged("gbeng"):    "\U0001f3f4" + tagged("gbeng"),
		"e\u0301":                         "e\u0301",
		"\u0301e":                         `\u0301e`,
		"a\u00a0b":                        `a\u00a0b`,
		"日本\u3000語":                       "日本\u3000語",
		"a\ufdfdb":                        `a\ufdfdb`,
		"x" + tagged("hi")[:8]:            "x‹tags×2 \\U000e0068… \"hi\" #019a5218›",
		"\ue0b0\ufdd0":                    `\ue0b0\ufdd0`,
		string(appendRune(nil, 0xd83d)):   `\ud83d`,
		"\r\n":                            `\x0d\x0a`,
		"Z" + strings.Repeat("\u0301", 9): "Z\u0301\u0301\u0301\u0301‹+5 marks #",
	} {
		if got := Line(Text{in}).Plain(); got != want && !(strings.HasSuffix(want, "#") && strings.HasPrefix(got, want)) {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
		checkText(t, in)
	}
}

func TestJSONView(t *testing.T) {
	raw := []byte(`{"b":[1e999999,{}],"a\u001b":"x\ny\u202e\t\"é\"","c":[]}`)
	var got []string
	for _, l := range JSON(raw, 0) {
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
	f.Fuzz(func(t *testing.T, s string) { checkText(t, s) })
}

func FuzzParseObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,{"b":null}]}`, `{"a":1,"a":2}`, `[1]`, `{"a":"\ud83d"} x`, "\ufeff{}", `{"a":-0.1e+5}`, `1`, ``, `{"a\u0062":1,"ab":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		members, err := ParseObject(raw, Limits{})
		dup := duplicateByDecoder(raw)
		valid := json.Valid(raw) && len(raw) > 0 && raw[skipSpace(raw, 0)] == '{'
		switch {
		case err == nil && (!valid || dup):
			t.Fatalf("accepted: %q (valid %v, duplicate %v)", raw, valid, dup)
		case err != nil && valid && !dup && utf8.Valid(raw):
			t.Fatalf("refused: %q: %v", raw, err)
		case err != nil:
			return
		}
		var b strings.Builder
		for _, m := range members {
			b.Write(AppendJSONString(nil, m.Key.s))
			if !json.Valid(m.Value) {
				t.Fatalf("member %v has the value %q", m.Key, m.Value)
			}
		}
		if c := CompactJSON(raw); !json.Valid(c) {
			t.Fatalf("CompactJSON(%q) = %q", raw, c)
		}
		if back, err := ParseObject(CompactJSON(raw), Limits{}); err != nil && utf8.Valid(raw) || len(back) != len(members) && err == nil {
			t.Fatalf("CompactJSON(%q) has %d members, not %d: %v", raw, len(back), len(members), err)
		}
	})
}

// FuzzScan scans any bytes and renders what was found.
func FuzzScan(f *testing.F) {
	for _, raw := range bigPayloads() {
		f.Add(raw[:min(len(raw), 300)])
	}
	f.Add([]byte(hostileEvent))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, payload := range [][]byte{raw, wrapText(string(raw))} {
			r := Scan(payload)
			for _, s := range r.Spans {
				if s.Start < 0 || s.End < s.Start || s.End > len(payload) {
					t.Fatalf("span %+v in %q", s, payload)
				}
			}
			if !slices.IsSorted(r.Flags) || len(r.Spans) > MaxSpans {
				t.Fatalf("%v, %d spans", r.Flags, len(r.Spans))
			}
			for _, width := range []int{0, 3, 33} {
				for _, l := range Detail(payload, r.Spans, width) {
					checkSafe(t, "detail", l)
					if width > 0 && l.Width > width {
						t.Fatalf("%d cells in %d", l.Width, width)
					}
				}
			}
		}
	})
}

// duplicateByDecoder looks for the same key twice in one object with the
// decoder of the standard library. It gives up where that does.
func duplicateByDecoder(raw []byte) bool {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	duplicate := false
	var value func() error
	value = func() error {
		tok, err := dec.Token()
		if err != nil {
			return err
		}
		d, ok := tok.(json.Delim)
		if !ok {
			return nil
		}
		seen := map[string]bool{}
		for dec.More() {
			if d == '{' {
				k, err := dec.Token()
				if err != nil {
					return err
				}
				// U+FFFD may stand for different surrogates.
				s, _ := k.(string)
				duplicate = duplicate || seen[s] && !strings.Contains(s, "\ufffd")
				seen[s] = true
			}
			if err := value(); err != nil {
				return err
			}
		}
		_, err = dec.Token()
		return err
	}
	return value() == nil && duplicate
}
