package tui

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/corpus"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
	"eventdeck/ui/internal/screen"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/query"
)

// hostileCase is one line of the shared case file.
type hostileCase struct {
	ID         string `json:"id"`
	Class      string `json:"class"`
	Payload    string `json:"payload"`
	PayloadB64 []byte `json:"payload_b64"`
	PayloadGen *struct {
		Op, Open, Close, Unit string
		Depth, Count          int
		Wrap                  []string
	} `json:"payload_gen"`
	Expect struct {
		Visible  []string `json:"visible"`
		Decoded  []string `json:"decoded"`
		MustShow []string `json:"must_show"`
		Badge    *bool    `json:"badge"`
	} `json:"expect"`
}

func (c *hostileCase) raw() []byte {
	switch g := c.PayloadGen; {
	case len(c.PayloadB64) > 0:
		return c.PayloadB64
	case g == nil:
		return []byte(c.Payload)
	case g.Op == "nest":
		return []byte(g.Wrap[0] + strings.Repeat(g.Open, g.Depth) + strings.Repeat(g.Close, g.Depth) + g.Wrap[1])
	case g.Op == "repeat":
		return []byte(g.Wrap[0] + strings.Repeat(g.Unit, g.Count) + g.Wrap[1])
	default:
		keys := make([]string, g.Count)
		for i := range keys {
			keys[i] = fmt.Sprintf(`"k%d":%d`, i, i)
		}
		return []byte(g.Wrap[0] + strings.Join(keys, ",") + g.Wrap[1])
	}
}

func hostileCases(t testing.TB) []hostileCase {
	t.Helper()
	path := filepath.FromSlash("../../host/trust/scan/testdata/untrusted.jsonl")
	out := slices.DeleteFunc(corpus.Read[hostileCase](t, path), func(c hostileCase) bool { return c.Class == "receiver" })
	if len(out) < 90 {
		t.Fatalf("%d cases", len(out))
	}
	return out
}

// record returns the record that a delivery makes of a case. All texts from servers in it are the
// text of the case.
func (c *hostileCase) record() event.Record {
	raw := c.raw()
	words := trust.Untrusted(string(raw[:min(len(raw), 400)]))
	r := event.Record{Kind: event.KindEvent, Server: "pager", Type: words, Mode: event.ModePush, EventID: words,
		Timestamp: words, Cursor: event.At(words), Raw: raw, Data: raw, Flags: scanned(raw)}
	if o, err := wire.ParseOccurrence(raw, strict.Limits{}); err == nil {
		r.Data, r.EventID, r.Type, r.Cursor = o.Data, o.EventID, o.Name, event.At(o.Cursor.Text)
	} else if _, err := strict.ParseObject(raw, strict.Limits{}); err != nil {
		r.Kind, r.Data, r.Reason = event.KindRejected, nil, trust.Untrusted(err.Error()+string(raw[:min(len(raw), 400)]))
	}
	return r
}

// TestHostileCases shows every case in every place of the screen, on a terminal.
func TestHostileCases(t *testing.T) {
	for _, c := range hostileCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			h := incident()
			h.snap.Servers[0].Title = trust.Untrusted(c.Payload)
			h.snap.Servers[1].Err = trust.Line(trust.Untrusted(c.Payload)).Plain()
			h.add(c.record())
			a := open(t, h, 120, 40)
			look := func(where string, keys ...string) string {
				t.Helper()
				press(t, a, keys...)
				settle(a, a.detail.Work())
				return onTerminal(t, a, where)
			}
			row := look("row")
			if badge := c.Expect.Badge; badge != nil && *badge != strings.Contains(row, evidence.BadgeWord) {
				t.Errorf("badge in the row: %v", !*badge)
			}
			look("detail", "2", "enter", "z")
			text := readThrough(t, a, "rendered")
			for _, v := range c.Expect.Visible {
				if !showsToken(text, v) && !showsToken(readEnvelope(t, a), v) {
					t.Errorf("no token for %s in\n%s", v, text)
				}
			}
			for _, s := range c.Expect.MustShow {
				if !strings.Contains(text, s) {
					t.Errorf("%q does not show in\n%s", s, text)
				}
			}
			for range detail.Views - 1 {
				press(t, a, "V")
				readThrough(t, a, a.detail.View().Word())
			}
			look("rendered again", "V")
			whyText := look("why", "!")
			for _, s := range c.Expect.Decoded {
				if !strings.Contains(strings.Join(strings.Fields(whyText), " "), s[:min(len(s), 40)]) {
					t.Errorf("%q is not in clear in\n%s", s, whyText)
				}
			}
			look("left", "esc")
			for range 4 {
				look("next span", "n")
			}
			a.Fail("asked the server", fmt.Errorf("it says %v and %s", trust.Untrusted(string(c.raw()[:min(len(c.raw()), 400)])), c.Payload))
			onTerminal(t, a, "status")
			a.stream.Show(query.Query{Node: query.Node{Server: "pager", Type: trust.Untrusted(c.Payload)}, Text: c.Payload})
			look("crumb", "z", "2")
		})
	}
}

// readEnvelope returns the screen with the top of the detail.
func readEnvelope(t *testing.T, a *app) string {
	t.Helper()
	a.detail.Top = 0
	return onTerminal(t, a, "envelope")
}

// readThrough pages through some screens of the detail, and returns the lines of the payload, joined
// and without indentation.
func readThrough(t *testing.T, a *app, where string) string {
	t.Helper()
	a.detail.Top = 0
	for range 3 {
		onTerminal(t, a, where)
		press(t, a, "ctrl+d")
	}
	var b strings.Builder
	for i := range a.detail.Lines {
		if l := &a.detail.Lines[i]; l.Gutter {
			b.WriteString(strings.TrimLeft(l.Text.Plain(), " "))
		}
	}
	return b.String()
}

// onTerminal draws the screen on a terminal and checks it there: no control characters, exact lines,
// borders and top line in their place, and a gutter beside lines of a server.
func onTerminal(t testing.TB, a *app, where string) string {
	t.Helper()
	frame := a.draw()
	lines := strings.Split(frame, "\n")
	if len(lines) != a.panes.H {
		t.Fatalf("%s: %d lines on a screen of %d", where, len(lines), a.panes.H)
	}
	for i, l := range lines {
		if w := ansi.StringWidthWc(l); w != a.panes.W {
			t.Fatalf("%s: line %d has %d cells of %d: %q", where, i, w, a.panes.W, ansi.Strip(l))
		}
	}
	s := screen.New(a.panes.W, a.panes.H, true)
	fmt.Fprint(s, frame)
	if v := a.View(); v.WindowTitle != "eventdeck" || s.Title() != "" {
		t.Fatalf("%s: title %q %q", where, v.WindowTitle, s.Title())
	}
	harmless(t, where, frame)
	text := s.Text()
	if strings.Join(strings.Fields(text), "") != strings.Join(strings.Fields(ansi.Strip(frame)), "") {
		t.Fatalf("%s: the terminal shows something else:\n%s", where, text)
	}
	if a.panes.Now.Tiny {
		return text
	}
	cells := s.Cells()
	if a.dialog == nil && a.prompt == nil && a.actions.Chord == "" && !a.panes.Now.Detail.Empty() {
		d := a.panes.Now.Detail
		for y := d.Y + 1; y < d.Y+1+a.detail.Shown; y++ {
			i := a.detail.Top + y - d.Y - 1
			if i < len(a.detail.Lines) && a.detail.Lines[i].Gutter && cells[y][d.X].Text != a.Glyphs.Gutter {
				t.Fatalf("%s: no gutter in line %d of\n%s", where, y, text)
			}
		}
		if d.X > 0 {
			for y := d.Y; y < d.Y+d.H; y++ {
				if !strings.Contains("│├╭┤┼┬╵", cells[y][d.X-1].Text) {
					t.Fatalf("%s: no border in line %d of\n%s", where, y, text)
				}
			}
		}
	}
	if !a.panes.Now.Crumb.Empty() && !strings.HasPrefix(text, " eventdeck") {
		t.Fatalf("%s: the top line is gone:\n%s", where, text)
	}
	return text
}

// harmless fails if a frame has control characters or sequences other than styles.
func harmless(t testing.TB, where, frame string) {
	t.Helper()
	if !utf8.ValidString(frame) {
		t.Fatalf("%s: no UTF-8", where)
	}
	for rest := frame; rest != ""; {
		if end := strings.IndexByte(rest, 'm'); strings.HasPrefix(rest, "\x1b[") && end > 0 && strings.Trim(rest[2:end], "0123456789;") == "" {
			rest = rest[end+1:]
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\n':
		case r < 0x20, r >= 0x7f && r < 0xa0, unicode.Is(unicode.Bidi_Control, r),
			r >= 0xe0000 && r < 0xe0080 && !strings.Contains(frame, "\U0001f3f4"),
			r == 0x200b, r == 0x2060, r == 0xfeff, r == 0xad, r == 0x2028, r == 0x2029, unicode.Is(unicode.Co, r):
			t.Fatalf("%s: %U reached the terminal: %.80q", where, r, rest)
		}
		rest = rest[n:]
	}
}

func showsToken(s, visible string) bool {
	var r rune
	fmt.Sscanf(visible, "U+%X", &r)
	return slices.ContainsFunc([]string{`\u%04x`, `\x%02x`, `\U%08x`}, func(f string) bool { return strings.Contains(s, fmt.Sprintf(f, r)) })
}

func TestFlagFilter(t *testing.T) {
	h := newFake()
	h.server("pager")
	for _, flags := range [][]string{nil, {"term.csi", "inj.override", event.FlagBadge}, {"uni.bidi"}} {
		if flags == nil {
			flags = []string{}
		}
		h.add(event.Record{Server: "pager", Type: trust.Untrusted("x"), Data: []byte(`{"title":"pool"}`), Flags: flags})
	}
	a := open(t, h, 120, 40)
	for filter, want := range map[string]int{"": 3, "flag:": 3, "flag:any": 2, "flag:term": 1, "FLAG:uni.b": 1, "flag:to-ai": 1, "flag:inj pool": 1, "flag:inj nope": 0, "flag:json": 0, "flag:term flag:uni": 0} {
		a.stream.Show(mustQuery(t, query.Node{}, filter))
		flush(a)
		if n := len(a.stream.Seqs); n != want {
			t.Errorf("%q shows %d rows, want %d", filter, n, want)
		}
	}
}

func TestSchemaProblemsShow(t *testing.T) {
	h := incident()
	h.snap.Servers[0].Types[0].PayloadSchema = json.RawMessage(`{"properties":{"n":{"type":"string"}}}`)
	a := open(t, h, 120, 40)
	press(t, a, "2", "enter")
	if s := screenOf(a); !strings.Contains(s, "fails its schema at /n: ") {
		t.Errorf("no word about the schema:\n%s", s)
	}
}

func TestLateAnswersAreDropped(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "2")
	before := a.detail.LaidOut()
	a.stream.By(-1)
	late := a.detail.Work()
	a.stream.By(-1)
	a.update(late())
	if now := a.detail.LaidOut(); now != before {
		t.Errorf("record %d is chosen, and the lines of %d are taken in place of those of %d", a.stream.At, now, before)
	}
}

func TestCopy(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "2", "enter")
	copied := func(keys ...string) string {
		t.Helper()
		var cmd tea.Cmd
		for _, k := range keys {
			cmd = a.key(tea.KeyPressMsg{Code: rune(k[0]), Text: k})
		}
		if cmd == nil {
			return ""
		}
		return fmt.Sprint(cmd())
	}
	if s := copied("y", "y"); !strings.Contains(s, `\u001b[31m`) || strings.ContainsAny(s, "\x1b\a\u202e") || !strings.Contains(screenOf(a), "copied the payload, escaped") {
		t.Errorf("yy copies %q", s)
	}
	if s := copied("y", "i"); s != "evt_6" {
		t.Errorf("yi copies %q", s)
	}
	r, _ := h.log.Get(6)
	if s := copied("y", "r"); s != string(r.Data) {
		t.Errorf("yr copies %q", s)
	}
	if s := copied("y", "j"); s != "" || a.actions.Chord != "" {
		t.Errorf("yj copies %q", s)
	}
	h.add(event.Record{Server: "pager", Data: []byte(`{"a":"` + strings.Repeat("x", external.CopyMax) + `"}`)})
	press(t, a, "2", "G")
	arrive(a)
	a.draw()
	if s := copied("y", "r"); s != "" || !strings.Contains(screenOf(a), "not copied") {
		t.Errorf("%d bytes were copied", len(s))
	}
}
