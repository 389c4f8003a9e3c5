package cli

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// The screen in words appends lines: states when they change, records as they come, and
// nothing that could act on a terminal.
func TestPlainScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		key := event.Key{Server: "pager", Type: trust.Untrusted("incident.created"), Args: []byte("{}")}
		b.store.change(key.ID(), func(s *event.Subscription) { s.Key, s.Mode, s.State = key, event.ModePush, event.StateLive })
		b.views = []host.ServerView{{Name: "pager", Reach: host.ReachConnecting}}
		ctx, cancel := context.WithCancel(t.Context())
		code := make(chan int, 1)
		go func() { code <- b.runIn(ctx, "--plain") }()
		synctest.Wait()
		sub, err := b.store.Subscription(key.ID())
		if err != nil {
			t.Fatal(err)
		}
		b.view(host.ServerView{Name: "pager", Reach: host.ReachBackoff, Err: "connection \x1b[2Jrefused"})
		b.arrive(occurrence(sub, "e1", `{"title":"pool \u001b[31m exhausted"}`))
		synctest.Wait()
		b.store.change(key.ID(), func(s *event.Subscription) { s.State = event.StateSuspended })
		suspended := occurrence(sub, "", "")
		suspended.Kind, suspended.State = event.KindState, &event.StateChange{State: event.StateSuspended}
		b.arrive(suspended)
		synctest.Wait()
		cancel()
		if got := <-code; got != exitDone {
			t.Errorf("ended with %d: %s", got, b.err.String())
		}
		out := b.out.String()
		for _, want := range []string{
			"1 server, 1 subscription", "server pager is connecting", "server pager is unreachable: connection",
			"subscription pager incident.created by push is live", "exhausted  pager  incident.created  { \"title\"", "}  e1", "by push is suspended",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not told:\n%s", want, out)
			}
		}
		if strings.Count(out, "suspended") != 1 || strings.Count(out, "is live") != 1 {
			t.Errorf("a state is told twice:\n%s", out)
		}
		if strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) }) {
			t.Errorf("a control character got out: %q", out)
		}
	})
}

func TestPlainScreenIsNoJSON(t *testing.T) {
	newBench(t).expect(t, exitUsage, "--json", "--plain", "--json")
}
