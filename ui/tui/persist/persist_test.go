package persist_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// host keeps settings in memory, or fails.
type host struct {
	tuitest.Settings
	fail error
}

func (k *host) SetSetting(_ context.Context, key, value string) error {
	if k.fail != nil {
		return k.fail
	}
	return k.Settings.SetSetting(context.Background(), key, value)
}

func newHost() (*host, *tuitest.Screen, persist.Settings) {
	k, s := &host{Settings: tuitest.Settings{}}, &tuitest.Screen{}
	return k, s, persist.Settings{Screen: s, Host: k}
}

func TestStateIsRestored(t *testing.T) {
	_, _, settings := newHost()
	m := persist.New(settings, time.Now)
	m.Searches = []string{"disk"}
	s := persist.State{Focus: layout.Detail, Place: persist.Place{Reading: 7, Filter: "p99"}, Lines: m.Lines}
	node := query.Node{Server: "b", Type: trust.Untrusted("t")}
	s.Node = persist.NodeOf(node)
	s.Close(map[query.Node]bool{node: true, {Server: "a"}: true, {Server: "c"}: false})
	m.SaveAtEnd(t.Context(), s)

	next := persist.New(settings, time.Now)
	got, ok := next.Restore()
	if !ok || got.Focus != s.Focus || got.Reading != 7 || got.Filter != "p99" || got.Node.Node() != node || next.Wanted != node {
		t.Errorf("recalled %+v, %v", got, ok)
	}
	if len(got.Closed) != 2 || got.Closed[0].Server != "a" || len(next.Searches) != 1 {
		t.Errorf("closed are %+v, searched %q", got.Closed, next.Searches)
	}
}

func TestUnknownValuesBecomeDefaults(t *testing.T) {
	k, screen, settings := newHost()
	m := persist.New(settings, time.Now)
	if _, ok := m.Restore(); ok || screen.Failed != nil {
		t.Errorf("without a saved state: %v, told %v", ok, screen.Failed)
	}
	k.Settings[persist.Layout] = `{"focus":99,"clock":77,"size":9,"tab":200,"filter":"x","second":{"node":{},"way":9}}`
	if s, ok := m.Restore(); !ok || s.Focus != layout.None || s.Clock != 0 || s.Size != layout.Normal || s.Tab != 0 || s.Filter != "x" || s.Second != nil {
		t.Errorf("recalled %+v, %v", s, ok)
	}
	k.Settings[persist.Layout] = "nonsense"
	if _, ok := m.Restore(); ok || screen.Failed == nil {
		t.Errorf("of nonsense: %v, told %v", ok, screen.Failed)
	}
}

// A state that was saved before there was a second stream can be restored.
func TestStateOfOneStreamIsRestored(t *testing.T) {
	k, _, settings := newHost()
	k.Settings[persist.Layout] = `{"node":{"server":"pager","type":"incident.created"},"closed":[{"server":"chat"}],"filter":"p99","filterOff":true,"reading":4,"focus":2,"tab":1,"clock":1}`
	m := persist.New(settings, time.Now)
	s, ok := m.Restore()
	want := query.Node{Server: "pager", Type: trust.Untrusted("incident.created")}
	if !ok || s.Node.Node() != want || s.Filter != "p99" || !s.Off || s.Reading != 4 || s.Second != nil || s.Focus != layout.Stream || len(s.Closed) != 1 {
		t.Errorf("recalled %+v, %v", s, ok)
	}
	if q := s.Query(tuitest.Start); q.Text != "p99" || !q.Off || q.Node != want {
		t.Errorf("its query is %+v", q)
	}
}

// Saves do not overlap, are at least a second apart, and happen only after a change.
func TestSavesAreFew(t *testing.T) {
	k, screen, settings := newHost()
	now := tuitest.Start
	m := persist.New(settings, func() time.Time { return now })
	s := persist.State{}
	present := func() persist.State { return s }
	tuitest.Run(m.Save(present))
	now = now.Add(persist.SaveEvery)
	if m.Save(present) != nil {
		t.Error("saved without a change")
	}
	s.Reading = 1
	cmd := m.Save(present)
	if s.Reading = 2; cmd == nil || m.Save(present) != nil {
		t.Fatal("not saved after a second, or a save began while another one runs")
	}
	tuitest.Run(cmd)
	if m.Save(present) != nil {
		t.Error("saved twice in a second")
	}
	now = now.Add(persist.SaveEvery)
	k.fail = errors.New("full")
	tuitest.Run(m.Save(present))
	if screen.Failed == nil {
		t.Error("a failure is not told")
	}
	now, k.fail = now.Add(persist.SaveEvery), nil
	tuitest.Run(m.Save(present))
	if got := k.Settings[persist.Layout]; !strings.Contains(got, `"reading":2`) {
		t.Errorf("after the failure kept is %s", got)
	}
}

func TestSettings(t *testing.T) {
	k, screen, s := newHost()
	if msg, ok := s.Set(persist.Mouse, "off", "the mouse is off")().(widget.Done); !ok || msg.Err != nil || msg.What == "" || s.Get(persist.Mouse) != "off" {
		t.Errorf("keeping says %+v and keeps %q", msg, s.Get(persist.Mouse))
	}
	list := []string{"a"}
	if msg := s.SetJSON("list", []string{"b"})(); msg != tea.Msg(nil) {
		t.Errorf("keeping says %v", msg)
	}
	if s.GetJSON("none", &list); list[0] != "a" {
		t.Error("nothing was kept and something read")
	}
	if s.GetJSON("list", &list); list[0] != "b" {
		t.Errorf("read %q", list)
	}
	k.Settings["list"] = "{"
	if s.GetJSON("list", &list); screen.Failed == nil {
		t.Error("what cannot be read is not told")
	}
	k.fail = errors.New("full")
	if msg, ok := s.SetJSON("list", 1)().(widget.Done); !ok || msg.Err == nil {
		t.Errorf("a failure says %v", msg)
	}
}
