package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func presenting(t *testing.T, h *fakeHost, w, hgt int) *app {
	t.Helper()
	a := newApp(t.Context(), Options{API: h, Env: quiet, Theme: "none", Present: true, Now: func() time.Time { return start }})
	a.Update(tea.WindowSizeMsg{Width: w, Height: hgt})
	settle(a, a.detail.Work())
	return a
}

func shown(a *app) string { return ansi.Strip(a.View().Content) }

func TestPresentedScreenHasNoPersonalValues(t *testing.T) {
	h := incident()
	h.snap.Servers[0].Address = "https://ann:hunter2@example.com/mcp"
	h.snap.Servers[0].BadTypes, h.snap.Servers[0].BadWhy = 1, []string{"page 1, descriptor 2: of bob@example.com"}
	h.snap.Servers[0].TypesErr = "the list of eve@example.com was cut short"
	h.snap.Subs[0].Key.Args = []byte(`{"user":"Ann Smith"}`)
	h.add(event.Record{Server: "pager", Type: trust.Untrusted("incident.created"), Mode: event.ModePush, Sub: h.snap.Subs[0].ID,
		Data: []byte(`{"title":"ann@example.com reports","user":{"name":"Ann Smith"},"token":"t0psecret","n":1}`),
		Raw:  []byte(`{"data":{"title":"ann@example.com reports","user":{"name":"Ann Smith"},"token":"t0psecret","n":1}}`)})
	a := presenting(t, h, 160, 45)
	seen := shown(a)
	press(t, a, "3")
	for range 4 {
		press(t, a, "V")
		seen += shown(a)
	}
	press(t, a, "1", "j")
	seen += shown(a)
	press(t, a, "j", "j")
	seen += shown(a)
	for _, secret := range []string{"ann@example", "bob@example", "eve@example", "Ann Smith", "t0psecret", "hunter2", "616e6e40"} {
		if strings.Contains(seen, secret) {
			t.Errorf("%q is shown:\n%s", secret, seen)
		}
	}
	if !strings.Contains(seen, "descriptor 2: of ***") || h.snap.Servers[0].BadWhy[0] != "page 1, descriptor 2: of bob@example.com" {
		t.Errorf("the reason is not shown, or masked in the host:\n%s", seen)
	}
	if !strings.Contains(seen, "*** reports") {
		t.Errorf("the event is not shown:\n%s", seen)
	}
	if _, err := a.o.API.Subscribe(t.Context(), host.Request{Args: a.snap.Subs[0].Key.Args}); err == nil || len(h.asked) > 0 {
		t.Error("masked arguments are sent")
	}
}

func TestCaptionsShowWhatHappens(t *testing.T) {
	h := incident()
	a := presenting(t, h, 120, 40)
	a.key(tea.KeyPressMsg{Code: 'z', Text: "z"})
	if s := shown(a); !strings.Contains(s, " z   give the pane the whole screen") {
		t.Errorf("the key is not told:\n%s", s)
	}
	h.add(event.Record{Kind: event.KindGap, Server: "chat", Type: trust.Untrusted("message.posted"), Gap: &event.Gap{Cause: event.CauseSilent, Certain: true}})
	look(a)
	if s := shown(a); !strings.Contains(s, "chat message.posted: gap: events are missing (silent)") {
		t.Errorf("the gap is not told:\n%s", s)
	}
	press(t, a, "?", "x")
	if s := shown(a); strings.Contains(s, " x  ") && strings.Contains(s, "in Keys") {
		t.Errorf("a letter that is typed is told:\n%s", s)
	}
}

func TestPresentedScreenFitsTheTerminal(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {120, 40}, {100, 30}, {80, 24}, {60, 20}, {40, 12}, {40, 10}, {20, 5}} {
		a := presenting(t, incident(), size[0], size[1])
		for _, keys := range [][]string{nil, {"1", "j"}, {"3"}, {"?"}, {"esc", "z"}} {
			press(t, a, keys...)
			lines := strings.Split(a.View().Content, "\n")
			if len(lines) != size[1] {
				t.Fatalf("%v: %d lines", size, len(lines))
			}
			for i, l := range lines {
				if w := ansi.StringWidthWc(l); w != size[0] {
					t.Fatalf("%v: line %d has %d cells: %q", size, i, w, ansi.Strip(l))
				}
			}
		}
	}
}

func TestClicksHitRowsWithBlankRowsBetween(t *testing.T) {
	a := presenting(t, incident(), 120, 40)
	a.View()
	r := a.panes.Now.Stream
	a.update(tea.MouseClickMsg(mouseAt(r.X+4, r.Y+1+a.stripRows()+2*2, tea.MouseLeft)))
	if a.stream.At != a.stream.Seqs[2] {
		t.Errorf("chose %d, want %d", a.stream.At, a.stream.Seqs[2])
	}
}

// In the demo captions explain events without text of a server, on two lines if needed.
func TestPresentedDemoTellsItsStory(t *testing.T) {
	h := incident()
	a := newApp(t.Context(), Options{API: h, Env: quiet, Theme: "none", Present: true, Demo: true, Now: func() time.Time { return start }})
	a.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	flush(a)
	settle(a, a.updateCaptions())
	h.add(event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident.changed"), Mode: event.ModePush,
		Data: []byte(`{"incident":"INC-7","state":"opened","title":"Checkout fails"}`)})
	arrive(a)
	flush(a)
	settle(a, a.updateCaptions())
	screen := shown(a)
	if !strings.Contains(screen, "The incident has a number. = follows it") || !strings.Contains(screen, "calls it.") {
		t.Errorf("nothing tells what happens:\n%s", screen)
	}
	if n := strings.Count(screen, "\n") + 1; n != 30 {
		t.Errorf("%d rows", n)
	}
}
