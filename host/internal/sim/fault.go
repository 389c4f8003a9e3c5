package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/delivery"
)

// fault is one kind of failure, with its weight among the others.
type fault struct {
	name   string
	weight int
	do     func(w *World) error
}

func faults(kind Kind) []fault {
	if kind == Deviant {
		return append(faults(Faithful),
			fault{"host killed in a proof", 10, (*World).killInProof},
			fault{"mode changed", 3, (*World).changeMode},
			fault{"host away", 4, (*World).away},
			fault{"deliveries signed wrongly for a while", 1, (*World).signWrongly},
		)
	}
	return []fault{
		{"host killed", 4, (*World).kill},
		{"host killed in a commit", 4, (*World).killInCommit},
		{"host killed at a failpoint", 3, (*World).killAtFailpoint},
		{"host ended in order", 1, func(w *World) error { return w.restart(false) }},
		{"server restarted", 2, func(w *World) error { return w.outage(false) }},
		{"server restarted, leases forgotten", 2, func(w *World) error { return w.outage(true) }},
		{"server lost its history", 2, (*World).lose},
		{"server dropped old events", 2, (*World).retain},
		{"server silent", 2, (*World).silence},
		{"receiver out of reach", 2, (*World).unreachable},
		{"all connections reset", 3, func(w *World) error {
			w.net.ResetAll(serverAddress)
			w.net.ResetAll(w.receiver())
			return nil
		}},
		{"disk full", 2, func(w *World) error { return w.disk(func(d *Disk) { d.full = true }) }},
		{"disk bad", 2, func(w *World) error { return w.disk(func(d *Disk) { d.bad = 0.3 }) }},
		{"disk syncs fail", 2, func(w *World) error { return w.disk(func(d *Disk) { d.unsure = 0.3 }) }},
		{"disk slow", 2, func(w *World) error { return w.disk(func(d *Disk) { d.slow = 2 * time.Second }) }},
		{"clock jumped", 2, (*World).jump},
		{"harm changed", 6, (*World).change},
	}
}

// injectFaults injects one fault after another until done.
func (w *World) injectFaults(done func() bool) error {
	r := w.rand.chaos
	all := slices.DeleteFunc(faults(w.o.Kind), func(t fault) bool { return w.o.Only != nil && !slices.Contains(w.o.Only, t.name) })
	total := 0
	for _, t := range all {
		total += t.weight
	}
	if w.o.Only == nil {
		if err := w.change(); err != nil {
			return err
		}
	}
	for !done() {
		time.Sleep(r.Between(50*time.Millisecond, 2*time.Second))
		at := r.N(total)
		for _, t := range all {
			if at -= t.weight; at < 0 {
				if t.name != "clock jumped" || w.skew > 0 {
					w.net.Count(t.name)
				}
				if err := t.do(w); err != nil {
					return fmt.Errorf("%s: %w", t.name, err)
				}
				break
			}
		}
		if w.host.dead.Load() {
			if err := w.restart(true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *World) kill() error {
	w.host.die()
	return w.restart(true)
}

// restart closes the process and starts another one after a while.
func (w *World) restart(killed bool) error {
	if err := w.host.close(); err != nil && !killed {
		return err
	}
	time.Sleep(w.rand.chaos.Between(0, 4*time.Second))
	return w.startHost()
}

// within waits until the host has died, and kills it after d.
func (w *World) within(d time.Duration) error {
	for end := time.Now().Add(d); !w.host.dead.Load() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	return w.kill()
}

func (w *World) killInCommit() error {
	r := w.rand.chaos
	w.host.disk.set(func(d *Disk) {
		if r.Chance(0.5) {
			d.before = 1 + r.N(20)
		} else {
			d.after = 1 + r.N(20)
		}
	})
	return w.within(3 * time.Second)
}

func (w *World) killAtFailpoint() error {
	w.host.fail.Store(int64(1 + w.rand.chaos.N(20)))
	return w.within(3 * time.Second)
}

// killInProof kills the host between two steps of a proof of continuity, after a restart.
func (w *World) killInProof() error {
	steps := []string{delivery.FailAsked, delivery.FailConfirmed, delivery.FailFirst, delivery.FailCaughtUp, delivery.FailProved}
	w.host.step.Store(&countdown{name: steps[w.rand.chaos.N(len(steps))], left: 1 + w.rand.chaos.N(4)})
	w.net.ResetAll(serverAddress)
	return w.within(8 * time.Second)
}

// away kills the host, and restarts it when the retries of a server are exhausted.
func (w *World) away() error {
	w.host.die()
	err := w.host.close()
	time.Sleep(w.rand.chaos.Between(2*time.Second, 20*time.Second))
	return errors.Join(err, w.startHost())
}

// changeMode moves a subscription to another mode that its type offers.
func (w *World) changeMode() error {
	r := w.rand.chaos
	f := w.feeds[r.N(len(w.feeds))]
	mode := f.modes[r.N(len(f.modes))]
	ctx, cancel := context.WithTimeout(context.Background(), r.Between(0, 10*time.Second))
	defer cancel()
	for _, v := range w.host.host.Snapshot().Subs {
		if v.Key.Type.Raw() == f.Name {
			_ = w.host.host.SetMode(ctx, v.ID, mode) // the host retries an unreachable server
		}
	}
	return nil
}

// signWrongly makes the receiver refuse all deliveries for a while.
func (w *World) signWrongly() error {
	b := w.server.behaves()
	b.SignWrongly = 1
	w.server.Behave(b)
	time.Sleep(w.rand.chaos.Between(0, 15*time.Second))
	b.SignWrongly = 0
	w.server.Behave(b)
	return nil
}

func (w *World) outage(forget bool) error {
	w.server.Stop(forget)
	time.Sleep(w.rand.chaos.Between(0, 10*time.Second))
	return w.server.Start()
}

func (w *World) lose() error {
	w.server.Stop(true)
	quiet := w.rand.chaos.Chance(0.3)
	for _, f := range w.feeds {
		f.Lose(quiet)
	}
	time.Sleep(w.rand.chaos.Between(0, 3*time.Second))
	return w.server.Start()
}

func (w *World) retain() error {
	for _, f := range w.feeds {
		f.Retain(w.rand.chaos.N(100))
	}
	return nil
}

func (w *World) silence() error {
	w.net.SilenceAll(serverAddress)
	d := w.rand.chaos.Between(0, 20*time.Second)
	if w.rand.chaos.Chance(0.1) {
		d *= 5
	}
	time.Sleep(d)
	w.net.Unsilence(serverAddress)
	return nil
}

func (w *World) unreachable() error {
	address := w.receiver()
	w.net.SilenceAll(address)
	time.Sleep(w.rand.chaos.Between(0, 15*time.Second))
	w.net.Unsilence(address)
	return nil
}

// disk harms the disk for a while.
func (w *World) disk(harm func(*Disk)) error {
	w.host.disk.set(harm)
	time.Sleep(w.rand.chaos.Between(0, 5*time.Second))
	w.repairDisk()
	return nil
}

func (w *World) jump() error {
	if w.skew == 0 {
		return nil
	}
	d := w.rand.chaos.Between(-w.skew, w.skew)
	w.host.jumped.Store(true)
	w.clock.Store(int64(d))
	time.Sleep(w.rand.chaos.Between(0, 6*time.Second))
	w.clock.Store(0)
	return nil
}

// change draws the behaviour of the network and the server from now on.
func (w *World) change() error {
	r := w.rand.chaos
	some := func(most float64) float64 {
		if r.Chance(0.5) {
			return 0
		}
		return most * float64(r.N(1000)) / 1000
	}
	w.net.SetHarm(Harm{
		Cut: some(0.2), Reset: some(0.2), HalfClose: some(0.1), Silence: some(0.04), Garble: some(0.2), Throttle: some(0.1),
		Latency: r.Between(0, 60*time.Millisecond), After: 1 << (6 + r.N(12)),
	})
	b := Behaviour{Refuse: some(0.2), Garbage: some(0.05), Hang: some(0.03), Repeat: some(0.2), Shuffle: some(0.3), Deny: some(0.03)}
	if w.o.Kind == Deviant {
		b.Deny /= 10 // else all skipped events would be gone
		b.Forget, b.Challenge = some(0.4), some(0.4)
	}
	w.server.Behave(b)
	return nil
}
