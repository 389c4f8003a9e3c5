package sim

import (
	"context"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
)

// How long a subscription may be shown as live after the last byte from the server: the
// host's patience, a call in progress, and some slack.
const (
	pushAlive = 8*time.Second + 3*time.Second
	pollAlive = 30*time.Second + 10*time.Second
	hookAlive = longestLease + 30*time.Second + 10*time.Second
)

// watch compares the displayed states of subscriptions with what came from the server.
func (w *World) watch(ctx context.Context) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	alive := map[event.Mode]time.Duration{event.ModePush: pushAlive, event.ModePoll: pollAlive, event.ModeWebhook: hookAlive}
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		l := w.running.Load()
		// A jump of the model's clock moves what the host's patience is measured with,
		// and the intervals that it learns, which a real clock that is set does not.
		if l == nil || l.dead.Load() || l.jumped.Load() {
			continue
		}
		snap := l.host.Snapshot()
		if w.o.Status != nil {
			snap = w.o.Status(snap)
		}
		w.refused.look(snap, func(v host.SubscriptionView, since time.Time) {
			w.checker.Violation("%v looks %s, and no delivery was accepted since one was refused %v ago", v.Key.Type, v.Status.State, time.Since(since))
		})
		for _, f := range w.feeds {
			if since := w.server.RefusedSince(f); !since.IsZero() && time.Since(since) > refusedAlive {
				w.wantNotLive(snap, f, since)
			}
		}
		silent := time.Since(w.net.LastRead(serverAddress))
		for _, v := range snap.Subs {
			switch v.Status.State {
			case event.StateLive, event.StatePolling, event.StateDraining, event.StateFlapping:
			default:
				continue
			}
			if silent > alive[v.Mode] {
				w.checker.Violation("%v looks %s, and nothing came from the server for %v", v.Key.Type, v.Status.State, silent)
			}
		}
	}
}

// wantNotLive checks that a subscription is not shown as live while the receiver refuses
// everything.
func (w *World) wantNotLive(snap host.Snapshot, f *Feed, since time.Time) {
	for _, v := range snap.Subs {
		if v.Key.Type.Raw() == f.Name && v.Mode == event.ModeWebhook && (v.Status.State == event.StateLive || v.Status.State == event.StateFlapping) {
			w.checker.Violation("%s looks live, and every delivery was refused for %v", f.Name, time.Since(since))
		}
	}
}
