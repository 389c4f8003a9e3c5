package tui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
)

func TestLayoutIsRemembered(t *testing.T) {
	h := incident()
	now := start
	open := func() *app {
		a := newApp(context.Background(), Options{API: h, Env: quiet, Theme: "none", Now: func() time.Time { return now }})
		a.update(tea.WindowSizeMsg{Width: 120, Height: 40})
		a.draw()
		return a
	}
	a := open()
	press(t, a, "1", "j", "j", "h", "l", "t", "2", "/")
	word(t, a, "p99")
	press(t, a, "enter", "x", "k", "k", "z")
	now = now.Add(2 * time.Second)
	settle(a, a.persist.Save(a.state))
	want := a.state()
	b := open()
	if got := b.state(); !slices.Equal(got.Closed, want.Closed) || got.Node != want.Node || got.Filter != "p99" || !got.Off || got.Reading != want.Reading || got.Focus != want.Focus || got.Size != layout.Full || got.Clock != cells.TimeUTC {
		t.Errorf("remembered %+v, was %+v", got, want)
	}
	if b.stream.At != a.stream.At || b.stream.Follow {
		t.Errorf("reading at %d, was at %d", b.stream.At, a.stream.At)
	}
	h.settings[persist.Layout] = `{"focus":99,"clock":77,"filter":"(("}`
	c := open()
	exact(t, c)
	h.settings[persist.Layout] = `nonsense`
	if d := open(); !d.Edges.Status.Note.Bad {
		t.Error("a memory that cannot be read is not told")
	}
}

// TestSavesAreFew fails if saves overlap or are less than a second apart.
func TestSavesAreFew(t *testing.T) {
	h := incident()
	now := start
	a := newApp(context.Background(), Options{API: h, Env: quiet, Theme: "none", Now: func() time.Time { return now }})
	a.update(tea.WindowSizeMsg{Width: 120, Height: 40})
	settle(a, a.persist.Save(a.state))
	press(t, a, "z")
	if a.persist.Save(a.state) != nil {
		t.Error("saved twice in a second")
	}
	now = now.Add(persist.SaveEvery)
	cmd := a.persist.Save(a.state)
	if cmd == nil {
		t.Fatal("not saved after a second")
	}
	press(t, a, "z")
	now = now.Add(persist.SaveEvery)
	if a.persist.Save(a.state) != nil {
		t.Error("a save began while another one runs")
	}
	settle(a, cmd)
	if a.persist.Save(a.state) == nil {
		t.Error("what changed meanwhile is not saved")
	}
}

func TestStateIsSavedAtTheEnd(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	settle(a, a.persist.Save(a.state))
	press(t, a, "t")
	a.persist.SaveAtEnd(t.Context(), a.state())
	if !strings.Contains(h.settings[persist.Layout], `"clock":1`) {
		t.Errorf("kept is %s", h.settings[persist.Layout])
	}
}
