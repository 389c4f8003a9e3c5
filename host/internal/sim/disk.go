package sim

import (
	"fmt"
	"sync"
	"syscall"
	"time"
)

// Disk makes the commits of a store fail. Its methods are hooks of the store. The zero Disk
// does no harm.
type Disk struct {
	rand *Random
	net  *Network // counts

	mu     sync.Mutex
	dead   bool
	die    func()
	before int // commits until the process dies before one; 0: never
	after  int // commits until the process dies after one; 0: never
	full   bool
	bad    float64       // probability that a write fails
	unsure float64       // probability that a sync fails after all was written
	slow   time.Duration // longest delay of a commit
}

// Before is called before a transaction is written to the file.
func (d *Disk) Before() {
	d.mu.Lock()
	slow, die := d.slow, d.due(&d.before)
	d.mu.Unlock()
	if die != nil {
		d.net.Count("died before a commit")
		die()
	}
	if slow > 0 {
		time.Sleep(d.rand.Between(0, slow))
	}
}

// After is called when a transaction is in the file and the commit has not returned.
func (d *Disk) After() {
	d.mu.Lock()
	die := d.due(&d.after)
	d.mu.Unlock()
	if die != nil {
		d.net.Count("died after a commit")
		die()
	}
}

// due counts down to the death of the process. The lock is held.
func (d *Disk) due(left *int) func() {
	if *left == 0 {
		return nil
	}
	if *left--; *left > 0 {
		return nil
	}
	return d.die
}

// FailBefore returns an error for a commit: the process is dead, or the disk is full or
// bad.
func (d *Disk) FailBefore() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.dead:
		return fmt.Errorf("the process is dead: %w", syscall.EIO)
	case d.full:
		d.net.Count("commit failed: disk full")
		return syscall.ENOSPC
	case d.bad > 0 && d.rand.Chance(d.bad):
		d.net.Count("commit failed: write error")
		return syscall.EIO
	}
	return nil
}

// FailAfter returns an error for a commit that is in the file, as from a failing sync.
func (d *Disk) FailAfter() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unsure > 0 && d.rand.Chance(d.unsure) && !d.dead {
		d.net.Count("commit failed: sync error")
		return syscall.EIO
	}
	return nil
}

func (d *Disk) set(change func(*Disk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}
