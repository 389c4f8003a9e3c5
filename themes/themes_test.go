package themes

import (
	"strings"
	"testing"
)

func TestEveryThemeHasAName(t *testing.T) {
	for _, name := range Names() {
		th, ok := Named(name)
		if !ok || th.Name != name {
			t.Errorf("Named(%q) = %q, %v", name, th.Name, ok)
		}
	}
	if _, ok := Named("plaid"); ok {
		t.Error("a theme that does not exist was found")
	}
}

// What must be seen without colours differs by an attribute.
func TestAttributesCarryWhatColoursDo(t *testing.T) {
	for _, name := range Names() {
		th, _ := Named(name)
		for _, r := range []Role{Cursor, Mark, TitleOn, Alarm, FieldOn, CursorOff, Span, SpanMark, SpanOn} {
			if th.On(r) == th.On(Plain) {
				t.Errorf("%s: role %d looks like plain text", name, r)
			}
		}
		if th.On(Span) == th.On(SpanOn) || th.On(Span) == th.On(Mark) || th.On(SpanMark) == th.On(Span) {
			t.Errorf("%s: spans, marks in them and the one that is explained look alike", name)
		}
		if !strings.Contains(th.On(Mark), "4") {
			t.Errorf("%s: marks are not underlined: %q", name, th.On(Mark))
		}
	}
}

func TestNoneHasNoColour(t *testing.T) {
	th, _ := Named("none")
	for r := Role(0); r < roles; r++ {
		for _, p := range strings.Split(strings.Trim(th.On(r), "\x1b[m"), ";") {
			if len(p) > 1 {
				t.Errorf("role %d uses %q", r, th.On(r))
			}
		}
	}
}

func TestTheBackgroundDecides(t *testing.T) {
	for _, c := range []struct {
		dark, noColor bool
		want          string
	}{{true, false, "dark"}, {false, false, "light"}, {true, true, "none"}, {false, true, "none"}} {
		if got := For(c.dark, c.noColor).Name; got != c.want {
			t.Errorf("For(%v, %v) = %s, want %s", c.dark, c.noColor, got, c.want)
		}
	}
}
