package sim_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/internal/sim"
	"eventdeck/host/trust"
)

// submitFunc submits a batch of the host to a store, with a fault.
type submitFunc func(s event.Store, ctx context.Context, b event.Batch) error

// saboteur is a store that changes the host's batches.
type saboteur struct {
	event.Store
	submit submitFunc
}

// Submit implements [event.Store].
func (s saboteur) Submit(ctx context.Context, b event.Batch) error { return s.submit(s.Store, ctx, b) }

// without returns the records for which fn returns false.
func without(records []event.Record, fn func(event.Record) bool) (kept []event.Record) {
	for _, r := range records {
		if !fn(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// changed returns a submitFunc that changes each batch before it submits it.
func changed(change func(b *event.Batch)) submitFunc {
	return func(s event.Store, ctx context.Context, b event.Batch) error {
		change(&b)
		return s.Submit(ctx, b)
	}
}

// showLive returns a Status that shows refused subscriptions as live, changed by hide.
func showLive(hide func(*delivery.Status)) func(host.Snapshot) host.Snapshot {
	return func(s host.Snapshot) host.Snapshot {
		for i := range s.Subs {
			if status := &s.Subs[i].Status; status.State == event.StateRefused {
				status.State = event.StateLive
				hide(status)
			}
		}
		return s
	}
}

// The checker detects every way in which a host could break its promises.
func TestCheckerDetectsBrokenPromises(t *testing.T) {
	nth := func(every int) func(event.Record) bool {
		var n atomic.Int64
		return func(r event.Record) bool {
			return r.Kind == event.KindEvent && n.Add(1)%int64(every) == 0
		}
	}
	missigned := []string{"deliveries signed wrongly for a while"}
	losing := []string{"server lost its history", "server dropped old events", "host killed"}
	tests := map[string]struct {
		submit func() submitFunc
		status func(host.Snapshot) host.Snapshot
		only   []string
		kind   sim.Kind
		want   string
	}{
		"one event in a hundred is dropped": {submit: func() submitFunc {
			drop := nth(100)
			return changed(func(b *event.Batch) { b.Records = without(b.Records, drop) })
		}, want: "is not stored"},
		"the cursor is committed before its events": {submit: func() submitFunc {
			return func(s event.Store, ctx context.Context, b event.Batch) error {
				if b.Cursor != nil && len(b.Records) > 0 {
					first := event.Batch{Sub: b.Sub, Cursor: b.Cursor}
					if err := s.Submit(ctx, first); err != nil {
						return err
					}
					time.Sleep(20 * time.Millisecond)
				}
				return s.Submit(ctx, b)
			}
		}, want: "the stored cursor is"},
		"duplicates are not dropped": {submit: func() submitFunc {
			again := nth(50)
			return changed(func(b *event.Batch) {
				for _, r := range b.Records {
					if again(r) {
						r.EventID = trust.Untrusted(strings.Replace(r.EventID.Raw(), "-", "-0", 1))
						b.Records = append(b.Records, r)
					}
				}
			})
		}, want: "is stored 2 times"},
		"gaps are not recorded": {only: losing, submit: func() submitFunc {
			return changed(func(b *event.Batch) {
				b.Records = without(b.Records, func(r event.Record) bool { return r.Kind == event.KindGap })
			})
		}, want: "gone without a gap record"},
		"gaps have the wrong hour": {only: losing, submit: func() submitFunc {
			return changed(func(b *event.Batch) {
				for i := range b.Records {
					if b.Records[i].Kind == event.KindGap {
						g := *b.Records[i].Gap
						g.From, g.To = g.From.Add(-time.Hour), g.To.Add(-time.Hour)
						b.Records[i].Gap = &g
					}
				}
			})
		}, want: "gone without a gap record"},
		"a delivery is acknowledged before its commit": {submit: func() submitFunc {
			return func(s event.Store, ctx context.Context, b event.Batch) error {
				if done := b.Done; done != nil && len(b.Records) > 0 {
					done(event.Outcome{Stored: 1}, nil)
					b.Done = nil
					time.Sleep(50 * time.Millisecond)
				}
				return s.Submit(ctx, b)
			}
		}, want: "was acknowledged and is not stored"},
		"a payload is changed": {submit: func() submitFunc {
			change := nth(100)
			return changed(func(b *event.Batch) {
				for i, r := range b.Records {
					if change(r) {
						b.Records[i].Raw, b.Records[i].Data = []byte(`{"n":0}`), []byte(`{"n":0}`)
					}
				}
			})
		}, want: "was never sent"},
		"an event is made up": {submit: func() submitFunc {
			change := nth(100)
			return changed(func(b *event.Batch) {
				for i, r := range b.Records {
					if change(r) {
						b.Records[i].EventID = trust.Untrusted("nobody's")
					}
				}
			})
		}, want: "was never sent"},
		"a failure is shown as live": {only: []string{"server silent"}, status: func(s host.Snapshot) host.Snapshot {
			for i := range s.Subs {
				s.Subs[i].Status.State = event.StateLive
			}
			return s
		}, want: "and nothing came from the server"},
		"refused deliveries are shown as live": {only: missigned, kind: sim.Deviant, status: showLive(func(*delivery.Status) {}), want: "no delivery was accepted since one was refused"},
		"refused deliveries are not counted": {only: missigned, kind: sim.Deviant, status: showLive(func(s *delivery.Status) {
			s.Refused = event.Refused{}
		}), want: "every delivery was refused"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var last []string
			for seed := range uint64(12) { // a short world may have no occasion for the fault
				o := sim.Options{Seed: seed, Events: 300, Kind: tt.kind, Only: tt.only, Status: tt.status}
				if tt.submit != nil {
					submit := tt.submit()
					o.Sabotage = func(s event.Store) event.Store { return saboteur{s, submit} }
				}
				last = run(t, o).Violations
				if slices.ContainsFunc(last, func(v string) bool { return strings.Contains(v, tt.want) }) {
					return
				}
			}
			t.Errorf("not noticed; the last violations are %q", last)
		})
	}
}
