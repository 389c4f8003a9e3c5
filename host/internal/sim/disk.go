package sim

import (
	"fmt"
	"sync"
	"syscall"
	"time"
)

// Disk makes the commits of a store fail. Its methods fit the hooks of the store. The zero Disk
// harms nothing.
type Disk struct {
	rand *Random
	net  *Network // counts

	mu     sync.Mutex
	dead   bool
	die    func()
	before int // commits until death before one; 0: none
	after  int // commits until death after one; 0: none
	full   bool
	bad    float64       // writes that fail
	unsure float64       // syncs that fail after all was written
	slow   time.Duration // up to
}

// Before is called when all is in the transaction and nothing in the file.
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

// After is called when all is in the file and the commit has not returned.
func (d *Disk) After() {
	d.mu.Lock()
	die := d.due(&d.after)
	d.mu.Unlock()
	if die != nil {
		d.net.Count("died after a commit")
		die()
	}
}

// due counts down to a death. The lock is held.
func (d *Disk) due(left *int) func() {
	if *left == 0 {
		return nil
	}
	if *left--; *left > 0 {
		return nil
	}
	return d.die
}

// FailBefore fails a commit: the process is dead, the disk full or bad.
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

// FailAfter fails a commit that is in the file, as a sync does that fails last.
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
