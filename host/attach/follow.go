package attach

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
)

// A client fetches the state at most every pullEvery, and less often where the owner would spend
// more than 1/pullShare of its time on that.
const (
	pullEvery   = 30 * time.Millisecond
	pullShare   = 20
	pullMost    = 2 * time.Second  // longest pause
	pullWait    = 10 * time.Second // how long an answer may wait for a change
	pullLate    = 5 * time.Second  // how late an answer may be before the owner counts as stopped
	wireEvery   = 500 * time.Millisecond
	wireKeepFor = 3 * time.Second // after the last call of [Client.Wire]
)

// followWindow bounds the records that a client fetches after it missed some; older ones are read
// from the log when they are wanted.
const followWindow = 5000

// follow keeps the state up to date until the connection ends.
func (c *Client) follow() {
	pause := pullEvery
	for c.ctx.Err() == nil {
		c.mu.Lock()
		a := stateRequest{Since: c.version, Wait: c.wait}
		pause = min(max(pullShare*c.state.Took, pause), pullMost)
		c.mu.Unlock()
		if time.Since(time.Unix(0, c.wireLookedAt.Load())) < wireKeepFor {
			a.Wire, a.Wait = true, wireEvery
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-c.ctx.Done():
			wait.Stop()
			return
		}
		pause = pullEvery
		late := time.AfterFunc(a.Wait+c.late, func() { c.markSilent(fmt.Errorf("%w: process %d", event.ErrSilent, c.PID())) })
		if c.pull(c.ctx, a) != nil {
			pause = pullMost // then it may succeed
		}
		late.Stop()
	}
}

// markSilent marks the state as old, and says why: no subscription in it may look live any more.
func (c *Client) markSilent(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := fmt.Errorf("%w; what is shown is from %s", why, c.state.Snapshot.At.Format(time.TimeOnly))
	snap := &c.state.Snapshot
	if c.silent && snap.Store.Err.Error() == err.Error() {
		return
	}
	c.applyNewer()
	c.silent = true
	c.ownChanges++
	snap.Version = c.version + c.ownChanges
	snap.Store.Err = err
	snap.Subs = slices.Clone(snap.Subs) // readers may have the old one
	for i := range snap.Subs {
		s := &snap.Subs[i].Status
		switch s.State {
		case event.StatePaused, event.StateEnded, event.StateDenied:
		default:
			s.State, s.Error = event.StateStale, trust.OfError(err)
		}
	}
	c.readers.notify()
}

// pull fetches the state and the new records, and notifies the readers.
func (c *Client) pull(ctx context.Context, a stateRequest) error {
	c.mu.Lock()
	a.WireAfter, a.AppAfter = c.wireLast, c.appLast
	c.mu.Unlock()
	s, err := ask(ctx, c, verbState, a)
	if err != nil {
		return err
	}
	select {
	case c.pulling <- struct{}{}:
		defer func() { <-c.pulling }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c.mu.Lock()
	older := s.Snapshot.Version < c.version
	known := c.state.Snapshot.Store.Generations.Of(math.MaxUint64)
	c.mu.Unlock()
	// The newest generation is enough: a state that was asked for earlier may have a lower position.
	if known != "" && known != s.Snapshot.Store.Generations.Of(math.MaxUint64) {
		c.cancel(fmt.Errorf("%w: process %d has another store than %s had before; run the command again", ErrGone, c.PID(), c.dir))
		return context.Cause(c.ctx)
	}
	if older {
		return nil // a newer state came first
	}
	if err := c.fetch(ctx, s.Snapshot.Last); err != nil {
		return err
	}
	if s.Part {
		c.keepPart(a.Sub, s)
	} else {
		c.keep(s)
	}
	return nil
}

// fetch adds the newest records up to last to the recent window.
func (c *Client) fetch(ctx context.Context, last uint64) error {
	have := c.last.Load()
	if have == 0 || last <= have { // a client begins at the end of the log
		c.last.Store(max(have, last))
		return nil
	}
	s := recordRange{From: max(have, last-min(last, followWindow)) + 1, To: last, Count: pageRecords}
	for s.From != 0 {
		p, err := ask(ctx, c, verbRecords, s)
		if err != nil {
			return err
		}
		records := make([]event.Record, len(p.Records))
		for i, r := range p.Records {
			records[i] = r.record()
		}
		if len(records) > 0 { // first: a position in the window is never beyond the last number
			c.last.Store(records[len(records)-1].Seq)
		}
		c.log.Append(records)
		s.From = p.Next
	}
	c.last.Store(last)
	return nil
}

// keep makes s the state and notifies the readers.
func (c *Client) keep(s state) {
	info := &s.Snapshot.Store
	info.Err, info.Damage, info.Locked, info.Holder = s.StoreErr.err(), s.Damage.err(), s.Locked.err(), c.PID()
	c.audited.Store(s.Audited)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.appLast = addNew(c.appLog, s.App, s.AppLast, c.appLast, func(l host.LogLine) int { return len(l.Text) + len(l.Server) })
	c.wireLast = addNew(c.wire, s.Wire, s.WireLast, c.wireLast, func(f host.WireFrame) int { return f.Frame.Len() })
	s.App, s.Wire = nil, nil
	if c.silent {
		c.silent = false
		c.ownChanges++
	}
	c.version = s.Snapshot.Version
	s.Snapshot.Version += c.ownChanges
	s.Snapshot.Last = max(s.Snapshot.Last, c.state.Snapshot.Last)
	if c.newer.marks > c.version {
		s.Marks = c.state.Marks
	}
	maps.DeleteFunc(c.newer.subs, func(_ event.SubID, n newerSub) bool { return n.version <= c.version })
	c.newer.apply = len(c.newer.subs) > 0
	c.state = s
	c.readers.notify()
}

// newerParts are parts of the state that were fetched after a change. Each stays until there is a
// full state that is not older.
type newerParts struct {
	subs  map[event.SubID]newerSub
	apply bool   // the state does not have all of subs
	marks uint64 // version of the marks
}

type newerSub struct {
	version uint64
	view    []host.SubscriptionView // empty: it is gone
}

// keepPart adds one subscription, or the marks if id is empty, to the state. The version for the
// next full state stays: it may have more.
func (c *Client) keepPart(id event.SubID, s state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := s.Snapshot.Version
	switch {
	case c.silent: // only a full state ends that
		return
	case id == "" && v >= c.newer.marks:
		c.state.Marks, c.newer.marks = s.Marks, v
	case id != "" && v >= c.newer.subs[id].version:
		c.newer.subs[id], c.newer.apply = newerSub{v, s.Snapshot.Subs}, true
	}
	c.audited.Store(max(c.audited.Load(), s.Audited))
	c.ownChanges++
	snap := &c.state.Snapshot
	snap.Version, snap.Last = c.version+c.ownChanges, max(snap.Last, s.Snapshot.Last)
	c.readers.notify()
}

// applyNewer adds the newer subscriptions to the state. It is done when the state is read: many
// changes in a row would copy all subscriptions each time. The lock is held.
func (c *Client) applyNewer() {
	if !c.newer.apply {
		return
	}
	c.newer.apply = false
	snap := &c.state.Snapshot
	subs := slices.DeleteFunc(slices.Clone(snap.Subs), func(v host.SubscriptionView) bool { // readers may have the old one
		_, newer := c.newer.subs[v.ID]
		return newer
	})
	for _, n := range c.newer.subs {
		subs = append(subs, n.view...)
	}
	slices.SortFunc(subs, func(a, b host.SubscriptionView) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	snap.Subs = subs
}

// addNew adds the entries up to number last that are newer than have, and returns the newest
// number. Two states that were fetched at once may hold the same entries.
func addNew[T any](ring *eventlog.Ring[T], entries []T, last, have uint64, size func(T) int) uint64 {
	if last <= have {
		return have
	}
	if fresh := last - have; fresh < uint64(len(entries)) {
		entries = entries[uint64(len(entries))-fresh:]
	}
	for _, e := range entries {
		ring.Add(e, size(e))
	}
	return last
}

// Changed implements [host.API].
func (c *Client) Changed() (<-chan struct{}, func()) { return c.readers.add() }

// Snapshot implements [host.API]: the state that was received last.
func (c *Client) Snapshot() host.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.applyNewer()
	return c.state.Snapshot
}

// SnapshotOf implements [host.API].
func (c *Client) SnapshotOf(id event.SubID) host.Snapshot { return c.Snapshot().Of(id) }
