package detail

import (
	"fmt"
	"math"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// placesMax bounds the places that are listed for one flag.
const placesMax = 6

// why is the dialog that explains every flag of the shown record: what it means, where it was
// raised, and which hidden text was found.
type why struct {
	pane  *Pane
	lines []Line
	width int
	sight widget.Scroll
}

// OpenWhy explains why the shown record is flagged.
func (d *Pane) OpenWhy() { d.env.Screen.Show(&why{pane: d}) }

func (d *why) Title() string { return "Why is it flagged?" }

func (d *why) Size(sw, sh int) (int, int) {
	w := max(1, min(sw-8, 110))
	d.fill(w)
	return w, min(len(d.lines), max(1, sh-6))
}

// fill writes the lines. It is called for each frame, because a scan may have ended.
func (d *why) fill(w int) {
	d.lines, d.width = d.lines[:0], w
	r, ok := d.pane.Payload()
	if !ok {
		d.say(themes.Dim, "This record has no payload.")
		return
	}
	f := d.pane.findings()
	raised := slices.Clone(r.Flags)
	if f != nil {
		for _, x := range f.report.Flags {
			if !slices.Contains(raised, string(x)) {
				raised = append(raised, string(x))
			}
		}
	}
	raised = evidence.MostSevereFirst(raised)
	d.say(themes.Good, "Nothing of the payload acted: it is shown as text, and that is all it can do here.")
	if len(raised) == 0 {
		d.say(themes.Plain, "Nothing was noticed.")
		d.say(themes.Plain, "That does not mean that it is harmless.")
	}
	for _, name := range raised {
		d.flag(name, f)
	}
	if f == nil {
		d.say(themes.Dim, "The places are being looked for.")
		return
	}
	if len(f.report.Decoded) > 0 {
		d.say(themes.Plain, "")
		d.say(themes.Strong, "Hidden or encoded text in clear")
		for _, t := range f.report.Decoded {
			for _, l := range trust.Block(t, max(1, w-1)) {
				d.lines = append(d.lines, Line{Gutter: true, Text: l})
			}
		}
	}
	if len(f.problems) > 0 {
		d.say(themes.Plain, "")
		for _, p := range f.problems {
			d.lines = append(d.lines, Line{Role: themes.Warn, Text: schemaWords(p)})
		}
	}
}

// say adds text of the program, wrapped.
func (d *why) say(role themes.Role, text string) {
	if text == "" {
		d.lines = append(d.lines, Line{})
		return
	}
	for _, l := range cells.Wrap(text, d.width-2, math.MaxInt) {
		d.lines = append(d.lines, Line{Role: role, Text: l})
	}
}

func (d *why) flag(name string, f *findings) {
	s := evidence.Severities[evidence.SeverityOf(name)]
	head := s.Sign + " " + name
	if name == event.FlagBadge {
		head = evidence.BadgeWord + " " + name
	}
	d.say(s.Role, head+": "+evidence.ReasonOf(name))
	if f == nil || name == event.FlagBadge || name == event.FlagIDLearned {
		return
	}
	n := 0
	for i := range f.report.Spans {
		p := &f.report.Spans[i]
		if string(p.Flag) != name {
			continue
		}
		if n++; n <= placesMax {
			d.place(i+1, p)
		}
	}
	switch {
	case n > placesMax:
		d.say(themes.Dim, fmt.Sprintf("    and in %s more", cells.Count(n-placesMax, "place")))
	case n == 0 && !f.report.Has(scan.Flag(name)):
		d.say(themes.Dim, "    around the payload: in the event's name, id, time or cursor")
	case n == 0:
		d.say(themes.Dim, "    the payload as a whole")
	}
}

func (d *why) place(i int, s *scan.Span) {
	where := cells.Sanitize("the top level")
	if !s.Path.IsZero() {
		where = trust.Line(s.Path)
	}
	text := cells.Join(cells.Sanitize(fmt.Sprintf("    place %d: ", i)), where)
	if s.End > s.Start {
		text = cells.Join(text, cells.Sanitize(fmt.Sprintf(", bytes %d–%d", s.Start, s.End)))
	}
	if s.Reason != s.Flag.Reason() {
		text = cells.Join(text, cells.Sanitize(": "+s.Reason))
	}
	d.lines = append(d.lines, Line{Role: themes.Dim, Text: text})
}

func (d *why) Draw(c *cells.Canvas, h int) {
	DrawLines(c, d.pane.Env.Glyphs, d.lines, &d.sight, h)
}

func (d *why) Key(k tea.KeyPressMsg) tea.Cmd {
	switch name := k.String(); name {
	case "esc", "q", "!":
		d.pane.env.Screen.Show(nil)
	default:
		d.sight.Key(name)
	}
	return nil
}

func (d *why) Hints() []string { return []string{"j k", "scroll", "esc", "back"} }
