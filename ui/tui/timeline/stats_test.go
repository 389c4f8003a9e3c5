package timeline_test

import (
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/timeline"
)

func TestStatisticsAreReadOnceASecond(t *testing.T) {
	now, asked := tuitest.Start, 0
	env := tuitest.Env()
	env.Now = func() time.Time { return now }
	key := event.Key{Server: "pager", Type: trust.Untrusted("incident.created")}
	snap := host.Snapshot{Subs: []host.SubscriptionView{{Subscription: event.Subscription{ID: "s1", Key: key, Mode: event.ModePush}}}}
	var rate host.Rate
	rate.Seconds[58], rate.Seconds[57] = 7, 3
	s := &tuitest.Screen{}
	r := timeline.NewRates(env, s, &snap, func() host.Stats {
		asked++
		return host.Stats{At: now, Started: now.Add(-time.Hour), Events: 1204, Total: rate, BySub: map[event.SubID]host.Rate{"s1": rate}}
	})
	if r.Head(true) != "" {
		t.Error("a rate is told before anything is known")
	}
	first := r.Work(true)
	if r.Work(true) != nil {
		t.Error("asked twice at once")
	}
	tuitest.Run(first)
	if cmd := r.Work(true); cmd != nil || asked != 1 || r.Events != 1204 {
		t.Errorf("asked %d times, has %d events", asked, r.Events)
	}
	if now = now.Add(time.Second); r.Work(false) != nil {
		t.Error("without the focus it is asked each second")
	}
	tuitest.Run(r.Work(true))
	if asked != 2 || !strings.Contains(r.Head(false), "/s") || r.RecentCounts("s1", 20) == nil || r.RecentCounts("other", 20) != nil {
		t.Errorf("asked %d times; head %q", asked, r.Head(false))
	}
	tuitest.Run(r.Open())
	if text := s.Text(112, 20); asked != 3 || !strings.Contains(text, "1,204 received") || !strings.Contains(text, "incident.created") {
		t.Errorf("asked %d times, shown:\n%s", asked, text)
	}
	s.Press("enter")
	if s.Node != (query.Node{Server: "pager", Type: key.Type, Sub: "s1"}) || s.Dialog != nil {
		t.Errorf("led to %+v", s.Node)
	}
}
