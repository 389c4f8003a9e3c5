package scan

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
	"eventdeck/host/trust/corpus"
	"eventdeck/host/trust/internal/runes"
	"eventdeck/host/trust/internal/trusttest"
	"eventdeck/host/trust/strict"
)

// untrustedCase is one line of testdata/untrusted.jsonl.
type untrustedCase struct {
	ID         string `json:"id"`
	Class      string `json:"class"`
	Title      string `json:"title"`
	Payload    string `json:"payload"`
	PayloadB64 string `json:"payload_b64"`
	PayloadGen *struct {
		Op    string   `json:"op"`
		Open  string   `json:"open"`
		Close string   `json:"close"`
		Unit  string   `json:"unit"`
		Depth int      `json:"depth"`
		Count int      `json:"count"`
		Wrap  []string `json:"wrap"`
	} `json:"payload_gen"`
	Expect struct {
		Accept   *bool    `json:"accept"`
		Flags    []Flag   `json:"flags"`
		NotFlags []Flag   `json:"not_flags"`
		Visible  []string `json:"visible"`
		Decoded  []string `json:"decoded"`
		MustShow []string `json:"must_show"`
		Badge    *bool    `json:"badge"`
		MaxMS    int      `json:"max_ms"`
		EventID  string   `json:"event_id"`
		Verbatim bool     `json:"cursor_verbatim"`
	} `json:"expect"`
}

func (c untrustedCase) raw(t *testing.T) []byte {
	t.Helper()
	if c.PayloadB64 != "" {
		b, err := base64.StdEncoding.DecodeString(c.PayloadB64)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	g := c.PayloadGen
	if g == nil {
		return []byte(c.Payload)
	}
	switch g.Op {
	case "nest":
		return []byte(g.Wrap[0] + strings.Repeat(g.Open, g.Depth) + strings.Repeat(g.Close, g.Depth) + g.Wrap[1])
	case "repeat":
		return []byte(g.Wrap[0] + strings.Repeat(g.Unit, g.Count) + g.Wrap[1])
	case "keys":
		keys := make([]string, g.Count)
		for i := range keys {
			keys[i] = fmt.Sprintf(`"k%d":%d`, i, i)
		}
		return []byte(g.Wrap[0] + strings.Join(keys, ",") + g.Wrap[1])
	}
	t.Fatalf("case %s is made by %q, which this test does not know", c.ID, g.Op)
	return nil
}

// spellings are the ways in which a token may name a code point.
func spellings(visible string) []string {
	var r rune
	fmt.Sscanf(visible, "U+%X", &r)
	return []string{
		fmt.Sprintf(`\u%04x`, r), fmt.Sprintf(`\x%02x`, r), fmt.Sprintf(`\U%08x`, r),
	}
}

func showsToken(s, visible string) bool {
	return slices.ContainsFunc(spellings(visible), func(tok string) bool { return strings.Contains(s, tok) })
}

func TestCases(t *testing.T) {
	cases := corpus.Read[untrustedCase](t, filepath.Join("testdata", "untrusted.jsonl"))
	if len(cases) < 100 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		if c.Class == "receiver" || c.Class == "cmd" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) { checkCase(t, c) })
	}
}

func checkCase(t *testing.T, c untrustedCase) {
	raw := c.raw(t)
	var (
		members []strict.Member
		err     error
		report  Report
		detail  []trust.Rendered
	)
	took := time.Hour
	for range 3 { // the fastest of three: the machine may be busy
		start := time.Now()
		members, err = strict.ParseObject(raw, jsontext.Limits{})
		report = Scan(raw)
		detail = trust.Detail(raw, report.Places(), 80)
		took = min(took, time.Since(start))
	}
	if c.Expect.MaxMS > 0 && !raceDetector && took > time.Duration(c.Expect.MaxMS)*time.Millisecond {
		t.Errorf("took %v, at most %d ms are allowed", took, c.Expect.MaxMS)
	}
	if want := c.Expect.Accept == nil || *c.Expect.Accept; (err == nil) != want {
		t.Errorf("accepted: %v, want %v (%v)", err == nil, want, err)
	}
	if err != nil && !errors.Is(err, jsontext.ErrRefused) {
		t.Errorf("%v does not wrap ErrRefused", err)
	}
	for _, f := range c.Expect.Flags {
		if !report.Has(f) {
			t.Errorf("flag %s is missing in %v", f, report.Flags)
		}
	}
	for _, f := range c.Expect.NotFlags {
		if report.Has(f) {
			t.Errorf("flag %s must not be raised", f)
		}
	}
	if c.Expect.Badge != nil && report.Badge != *c.Expect.Badge {
		t.Errorf("badge %v, want %v; flags %v", report.Badge, *c.Expect.Badge, report.Flags)
	}
	for _, want := range c.Expect.Decoded {
		if !slices.ContainsFunc(report.Decoded, func(d trust.Text) bool { return strings.Contains(d.Raw(), want) }) {
			t.Errorf("%q is not offered in clear: %v", want, report.Decoded)
		}
	}
	for _, f := range report.Flags {
		if reasons[f] == "" {
			t.Errorf("flag %s has no reason", f)
		}
	}
	for _, m := range members {
		if c.Expect.EventID != "" && m.Key.Raw() == "eventId" && string(m.Value) != `"`+c.Expect.EventID+`"` {
			t.Errorf("eventId is %s", m.Value)
		}
		if c.Expect.Verbatim && m.Key.Raw() == "cursor" {
			var cursor trust.Text
			if err := cursor.UnmarshalJSON(m.Value); err != nil || cursor.Raw() != "c\x1b]52;c;aGk=\a\u202e" {
				t.Errorf("cursor is %q, %v", cursor.Raw(), err)
			}
		}
	}
	checkViews(t, c, raw, detail)
	checkSinks(t, raw, err)
}

// checkSinks writes the strings of a payload to error texts, formatted output, logs and
// JSON.
func checkSinks(t *testing.T, raw []byte, refusal error) {
	t.Helper()
	s := scanner{raw: raw, collect: true}
	if jsontext.Walk(raw, jsontext.Limits{}.WithDefaults(), &s) != nil {
		s.found = []field{{text: string(raw)}}
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	jsonLogger := slog.New(slog.NewJSONHandler(&log, nil))
	for i, f := range s.found {
		if i == 50 {
			break
		}
		text := trust.Untrusted(f.text)
		logger.Info("event", "text", text)
		jsonLogger.Info("event", "text", text)
		fmt.Fprintf(&log, "%v %s %q %+v %#v %x %d\n", text, text, text, text, text, text, text)
		fmt.Fprintln(&log, text, fmt.Errorf("about %v: %w", text, jsontext.ErrRefused), &text, []trust.Text{text}, map[trust.Text]int{text: 1})
		b, err := json.Marshal(map[string]any{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		log.Write(b)
	}
	fmt.Fprintln(&log, refusal)
	for l := range strings.SplitSeq(log.String(), "\n") {
		for u := (runes.Units{S: l}); u.I < len(l); {
			switch w := u.Next(); w.Class {
			case runes.Control, runes.C1, runes.Bidi, runes.Tag, runes.Separator, runes.Invalid, runes.Surrogate, runes.Private, runes.Nonchar:
				t.Fatalf("%q at %d of %.300q", w.R, w.Start, l)
			}
		}
	}
}

// checkViews checks the payload in every view.
func checkViews(t *testing.T, c untrustedCase, raw []byte, detail []trust.Rendered) {
	wide := trust.JSON(raw, 0)
	for _, view := range [][]trust.Rendered{detail, wide, trust.Escaped(trust.Untrusted(string(raw)), 80), trust.Hex(raw, 80)} {
		for _, l := range view {
			trusttest.CheckSafe(t, "detail", l)
		}
	}
	for _, l := range detail {
		if l.Width > 80 {
			t.Errorf("a line of %d cells in 80", l.Width)
		}
	}
	text := trusttest.PlainLines(wide)
	if strings.ContainsRune(text, '\t') {
		t.Error("a tab in the detail view")
	}
	for _, s := range c.Expect.MustShow {
		if !strings.Contains(text, s) {
			t.Errorf("%q does not show in\n%s", s, text)
		}
	}
	for _, v := range c.Expect.Visible {
		if !showsToken(text, v) {
			t.Errorf("no token for %s in\n%s", v, text)
		}
	}
	row := trust.Line(trust.Untrusted(string(raw[:min(len(raw), 300)])))
	trusttest.CheckSafe(t, "Line", row)
	compact := trust.CompactJSON(raw)
	if !json.Valid(compact) {
		t.Errorf("no JSON: %.200q", compact)
	}
	for _, r := range string(compact) {
		switch runes.ClassOf(r) {
		case runes.Control, runes.C1, runes.Bidi, runes.Tag, runes.Separator:
			t.Errorf("%U raw in the JSON output", r)
		}
	}
}
