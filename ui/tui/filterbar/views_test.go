package filterbar_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
)

// viewsFixture is a screen with views whose settings are in memory.
type viewsFixture struct {
	tuitest.Screen
	filterbar.Views
	persist persist.Saver
	tuitest.Settings
	now    filterbar.View
	opened []filterbar.View
}

func viewsNewFixture() *viewsFixture {
	d := &viewsFixture{Settings: tuitest.Settings{}}
	d.persist = persist.New(persist.Settings{Screen: &d.Screen, Host: d}, time.Now)
	d.Views = filterbar.NewViews(&filterbar.Env{
		Env: tuitest.Env(), Screen: d, Persist: &d.persist, View: func() filterbar.View { return d.now },
		OpenView: func(v filterbar.View) tea.Cmd { d.opened = append(d.opened, v); return nil },
	})
	d.Load()
	return d
}

// run runs a typed line and its command.
func (d *viewsFixture) run(line string) error {
	cmd, err := d.Run(strings.Fields(line))
	tuitest.Run(cmd)
	return err
}

func alerts() filterbar.View {
	return filterbar.View{Place: persist.Place{Node: persist.Node{Server: "pager"}, Filter: "sev:P1"}, Second: &persist.Second{Way: layout.Beside}}
}

func TestViewsAreSavedRenamedAndDeleted(t *testing.T) {
	d := viewsNewFixture()
	d.now = alerts()
	if err := d.run("save on call"); err != nil {
		t.Fatal(err)
	}
	if got := d.Words("on call").Plain(); got != "pager /sev:P1  |  all servers" {
		t.Errorf("it says %q", got)
	}
	if err := d.run("rename on call nights"); err != nil || !slices.Equal(d.Names(), []string{"nights"}) {
		t.Errorf("%v, saved are %q", err, d.Names())
	}
	again := viewsNewFixture()
	again.Settings = d.Settings
	again.Load()
	if err := again.run("nights"); err != nil || len(again.opened) != 1 || again.opened[0].Filter != "sev:P1" || again.opened[0].Second == nil {
		t.Errorf("%v, opened %+v", err, again.opened)
	}
	for line, want := range map[string]error{
		"other": event.ErrNotFound, "save": evidence.ErrUsage, "save rename": evidence.ErrUsage, "rename nights": evidence.ErrUsage, "rename other x": event.ErrNotFound,
		"save " + strings.Repeat("n", filterbar.NameMax+1): evidence.ErrUsage, "delete other": event.ErrNotFound,
	} {
		if err := d.run(line); !errors.Is(err, want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if err := d.run("save days"); err != nil {
		t.Fatal(err)
	}
	if err := d.run("rename days nights"); !errors.Is(err, evidence.ErrUsage) {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := d.run("delete nights"); err != nil || !slices.Equal(d.Names(), []string{"days"}) {
		t.Errorf("%v, saved are %q", err, d.Names())
	}
}

// A view whose filter cannot be parsed is refused, and nothing opens.
func TestViewWithAnInvalidFilterIsRefused(t *testing.T) {
	d := viewsNewFixture()
	d.Settings[persist.Views] = `{"old":{"node":{},"filter":"(("}}`
	d.Load()
	if err := d.run("old"); err == nil || !strings.Contains(err.Error(), "of the view old") || len(d.opened) != 0 {
		t.Errorf("%v, opened %v", err, d.opened)
	}
}

func TestListOfViews(t *testing.T) {
	d := viewsNewFixture()
	d.now = alerts()
	d.List()
	if text := d.Text(90, 10); !strings.Contains(text, "ctrl+s saves under it") {
		t.Errorf("the empty list says:\n%s", text)
	}
	d.Press("c", "a", "l", "l", "ctrl+s")
	if !slices.Equal(d.Names(), []string{"call"}) || d.Dialog != nil {
		t.Fatalf("saved are %q", d.Names())
	}
	d.List()
	if text := d.Text(90, 10); !strings.Contains(text, "call") || !strings.Contains(text, "pager /sev:P1") {
		t.Errorf("listed:\n%s", text)
	}
	d.Press("ctrl+r")
	d.Type("s", "enter")
	if !slices.Equal(d.Names(), []string{"calls"}) {
		t.Errorf("renamed to %q", d.Names())
	}
	d.List()
	if d.Press("enter"); len(d.opened) != 1 || d.Dialog != nil {
		t.Errorf("opened %d", len(d.opened))
	}
	d.List()
	if d.Press("delete", "esc"); len(d.Names()) != 0 {
		t.Errorf("left are %q", d.Names())
	}
	d.List()
	d.Press("ctrl+s")
	if d.Prompt == nil {
		t.Fatal("no name is asked for")
	}
	if d.Type("x y", "enter"); !slices.Equal(d.Names(), []string{"x y"}) {
		t.Errorf("saved are %q", d.Names())
	}
}
