package tui

import (
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/stream"
)

// labelled returns events with labels: a single one, and a batch of three.
func labelled() *fakeHost {
	h := incident()
	for i, batch := range []string{"", "b-1", "b-1", "b-1"} {
		l := &event.Labels{
			Name: trust.Untrusted("build.finished"), Priority: trust.Untrusted("critical"),
			Tags: []trust.Text{trust.Untrusted("ci"), trust.Untrusted("main")}, Batch: trust.Untrusted(batch),
		}
		h.add(event.Record{Server: "pager", Type: trust.Untrusted("filtered-stream"), Labels: l, Data: fmt.Appendf(nil, `{"title":"build %d"}`, i)})
	}
	return h
}

func TestLabelsFollowTheSummary(t *testing.T) {
	a := open(t, labelled(), 200, 60)
	s := screenOf(a)
	for _, want := range []string{"build.finished   build 0  ci main", "critical", "┌ build 1", "├ build 2", "└ build 3"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not shown:\n%s", want, s)
		}
	}
	if strings.Contains(s, "┌ build 0") {
		t.Error("an event that came alone stands in a batch")
	}
	exact(t, a)
}

func TestColumnsOfLabelsAreOffered(t *testing.T) {
	a := open(t, labelled(), 200, 60)
	a.draw()
	press(t, a, "2", "c")
	s := screenOf(a)
	for _, want := range []string{"priority", "batch", "tags", "came as one"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not offered:\n%s", want, s)
		}
	}
	d := a.dialog.(*filterbar.Picker)
	for d.Rows[d.At].Kind != stream.ColBatch {
		press(t, a, "down")
	}
	press(t, a, "space", "enter")
	if s := screenOf(a); !strings.Contains(s, "b-1") {
		t.Errorf("the chosen column is not shown:\n%s", s)
	}
	plain := open(t, incident(), 200, 60)
	plain.draw()
	press(t, plain, "2", "c")
	if s := screenOf(plain); strings.Contains(s, "came as one") {
		t.Errorf("offered where no record has labels:\n%s", s)
	}
}

func TestBracketsFollowTheFilter(t *testing.T) {
	a := open(t, labelled(), 200, 60)
	a.draw()
	settle(a, must(t, a, `filter set '"build 1"'`))
	flush(a)
	if s := screenOf(a); !strings.Contains(s, "build 1") || strings.Contains(s, "┌ build 1") {
		t.Errorf("the one of a batch that is shown is drawn as several:\n%s", s)
	}
}

func TestBatchIsOneGroupAmongTheSame(t *testing.T) {
	a := open(t, labelled(), 160, 50)
	a.draw()
	press(t, a, "2", "enter")
	if s := screenOf(a); !strings.Contains(s, "batch    b-1") || !strings.Contains(s, "priority critical") || !strings.Contains(s, "tags     ci main") {
		t.Errorf("the labels are not told:\n%s", s)
	}
	press(t, a, "[")
	s := screenOf(a)
	for _, want := range []string{"b-1, 3 events", "┌ 03-14 14:03:07 build.finished  build 1", "├ 03-14 14:03:07 build.finished  build 2", "└ 03-14 14:03:08 build.finished  build 3"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not listed:\n%s", want, s)
		}
	}
	if strings.Contains(s, "build.finished  build 0") {
		t.Error("an event that came alone is among the batch")
	}
	exact(t, a)
	for a.detail.Lines[a.detail.At].Seq == 0 {
		press(t, a, "down")
	}
	if press(t, a, "enter"); a.stream.At != 8 {
		t.Errorf("the first of the batch leads to record %d", a.stream.At)
	}
}

func TestSubscriptionShowsItsDialectAndSchedule(t *testing.T) {
	h := incident()
	v := &h.snap.Subs[0]
	v.Dialect, v.NoReplay, v.Key.Args = "MCPE", true, []byte(`{"channels":["cron"],"cronExpression":"0 9 * * *","timezone":"UTC"}`)
	a := open(t, h, 160, 50)
	a.draw()
	press(t, a, "1", "j", "j", "j", "j")
	s := screenOf(a)
	for _, want := range []string{"MCPE", "no-replay: what is missed", "delivers Sun 2026-03-15 09:00 UTC", "then Mon 2026-03-16 09:00 UTC", "then Tue 2026-03-17 09:00 UTC"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not told:\n%s", want, s)
		}
	}
	exact(t, a)
	v.Status.State = event.StatePaused
	if f := evidence.Upcoming(v, a.Clock()); f != nil {
		t.Errorf("a paused subscription delivers at %v", f)
	}
}

func TestSilenceIsUnknownIfEventsHaveTheirOwnStream(t *testing.T) {
	h := incident()
	v := &h.snap.Subs[0]
	if known, why := evidence.Silence(v, start); !known {
		t.Fatalf("%s: the test shows nothing", why)
	}
	v.Status.Apart = true
	if known, why := evidence.Silence(v, start); known || !strings.Contains(why, "stream of their own") {
		t.Errorf("known %v: %s", known, why)
	}
}

func TestEndedSubscriptionPromisesNothing(t *testing.T) {
	h := incident()
	v := &h.snap.Subs[0]
	v.Status.State = event.StateDenied
	if got := evidence.Next(v, start); !strings.HasPrefix(got, "nothing") {
		t.Errorf("refused for lack of rights: %s", got)
	}
	v.Status.State, v.NoReplay = event.StatePaused, true
	if _, why := evidence.Silence(v, start); strings.Contains(why, "stay at the server") {
		t.Errorf("paused without replay: %s", why)
	}
}
