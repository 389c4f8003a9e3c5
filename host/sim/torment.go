package sim

import (
	"fmt"
	"slices"
	"time"
)

// A torment is a fault with a name, and how likely it is among the others.
type torment struct {
	name   string
	weight int
	do     func(w *World) error
}

func torments() []torment {
	return []torment{
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

// torment injects faults until done.
func (w *World) torment(done func() bool) error {
	r := w.rand.chaos
	all := slices.DeleteFunc(torments(), func(t torment) bool { return w.o.Only != nil && !slices.Contains(w.o.Only, t.name) })
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
		if w.life.dead.Load() {
			if err := w.restart(true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *World) kill() error {
	w.life.die()
	return w.restart(true)
}

// restart buries the process and starts another one after a while.
func (w *World) restart(killed bool) error {
	if err := w.life.bury(); err != nil && !killed {
		return err
	}
	time.Sleep(w.rand.chaos.Between(0, 4*time.Second))
	return w.reborn()
}

// within waits for the death of the host, and kills it in the end.
func (w *World) within(d time.Duration) error {
	for end := time.Now().Add(d); !w.life.dead.Load() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	return w.kill()
}

func (w *World) killInCommit() error {
	r := w.rand.chaos
	w.life.disk.set(func(d *Disk) {
		if r.Chance(0.5) {
			d.before = 1 + r.N(20)
		} else {
			d.after = 1 + r.N(20)
		}
	})
	return w.within(3 * time.Second)
}

func (w *World) killAtFailpoint() error {
	w.life.fail.Store(int64(1 + w.rand.chaos.N(20)))
	return w.within(3 * time.Second)
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
	w.net.Speak(serverAddress)
	return nil
}

func (w *World) unreachable() error {
	address := w.receiver()
	w.net.SilenceAll(address)
	time.Sleep(w.rand.chaos.Between(0, 15*time.Second))
	w.net.Speak(address)
	return nil
}

// disk harms the disk for a while.
func (w *World) disk(harm func(*Disk)) error {
	w.life.disk.set(harm)
	time.Sleep(w.rand.chaos.Between(0, 5*time.Second))
	w.mend()
	return nil
}

func (w *World) jump() error {
	if w.skew == 0 {
		return nil
	}
	d := w.rand.chaos.Between(-w.skew, w.skew)
	w.life.jumped.Store(true)
	w.clock.Store(int64(d))
	time.Sleep(w.rand.chaos.Between(0, 6*time.Second))
	w.clock.Store(0)
	return nil
}

// change draws what the network and the server do from now on.
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
	w.server.Behave(Manners{Refuse: some(0.2), Garbage: some(0.05), Hang: some(0.03), Repeat: some(0.2), Shuffle: some(0.3), Deny: some(0.03)})
	return nil
}
