package present

import (
	"context"
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/internal/tuitest"
)

func TestCaptionsTellTheStory(t *testing.T) {
	for _, b := range beats {
		if len(b.says) > 160 {
			t.Errorf("two lines of 80 cells do not hold %q", b.says)
		}
		r := event.Record{Kind: event.KindEvent, Type: trust.Untrusted(b.typ), Data: []byte(`{"x":1,"` + b.path[1:] + `":"` + b.value + `"}`)}
		if got := Caption(&r); got != b.says {
			t.Errorf("%s %s: %q", b.typ, b.value, got)
		}
		r.Kind = event.KindRejected
		if got := Caption(&r); got != "" {
			t.Errorf("a refused payload is a step of the story: %q", got)
		}
	}
	if Caption(&event.Record{Kind: event.KindGap}) != GapSays || len(GapSays) > 160 {
		t.Error("a gap is not told")
	}
	for _, typ := range []string{"incident.activity", "incident.changed"} {
		if got := Caption(&event.Record{Kind: event.KindEvent, Type: trust.Untrusted(typ), Data: []byte(`{"state":"other"}`)}); got != "" {
			t.Errorf("%s: %q", typ, got)
		}
	}
}

func TestDemoStarts(t *testing.T) {
	d := Demo{Snap: &host.Snapshot{}, Start: func(context.Context) ([]string, error) { return []string{"pager"}, nil }}
	screen, then := &tuitest.Screen{}, false
	cmd := d.Begin(screen, func() tea.Cmd { then = true; return nil })
	if d.CanStart() || d.Has("pager") {
		t.Error("it runs before it is started")
	}
	if tuitest.Run(cmd); !d.CanStart() || !d.Has("pager") || !then {
		t.Errorf("started are %q, told %q", d.Names, screen.Told)
	}
	failed := errors.New("no port")
	d.Start = func(context.Context) ([]string, error) { return nil, failed }
	if tuitest.Run(d.Begin(screen, nil)); !errors.Is(screen.Failed, failed) || !d.CanStart() {
		t.Errorf("told is %v", screen.Failed)
	}
}
