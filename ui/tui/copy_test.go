package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/widget"
)

func TestSelectAndCopy(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	copied := func(keys ...string) string {
		t.Helper()
		press(t, a, keys[:len(keys)-1]...)
		cmd := a.key(tea.KeyPressMsg{Code: rune(keys[len(keys)-1][0]), Text: keys[len(keys)-1]})
		if cmd == nil {
			return ""
		}
		msg := cmd()
		if then, ok := msg.(widget.Then); ok { // the records of a range were read
			msg = then()()
		}
		return fmt.Sprint(msg)
	}
	press(t, a, "2", "g")
	if s := copied("y", "k"); s != "eventdeck tail pager incident.created --mode push" {
		t.Errorf("the command is %q", s)
	}
	if s := copied("y", "l"); !strings.HasPrefix(s, "2026-03-14 14:03:05.300  pager  incident.created  p99 latency") {
		t.Errorf("the row is %q", s)
	}
	if s := copied("y", "c"); s != "" || !strings.Contains(screenOf(a), "no cursor") {
		t.Errorf("the cursor is %q", s)
	}
	press(t, a, "v", "j")
	exact(t, a)
	if s := copied("y", "i"); s != "evt_1\nevt_2" {
		t.Errorf("the ids are %q", s)
	}
	h.event("pager", "incident.created", "later")
	arrive(a)
	if first, last := a.stream.Ends(); first != 1 || last != 2 {
		t.Errorf("an arrival moved the range to %d to %d", first, last)
	}
	press(t, a, "esc")
	if a.stream.Selected.On {
		t.Error("esc keeps the range")
	}
}

func TestReadablePayloadHasNoControls(t *testing.T) {
	for _, c := range hostileCases(t) {
		raw := c.raw()
		if len(raw) > 1<<16 {
			continue
		}
		text := string(external.Readable(raw))
		for _, x := range text {
			if x != '\n' && (x < 0x20 || x >= 0x7f && x < 0xa0 || x == 0x202e || x == 0x2028) {
				t.Errorf("%s: %U reaches the pager", c.ID, x)
			}
		}
	}
}
