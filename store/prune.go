package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

const (
	// pruneBatch is how many records one transaction removes at most, so that it does not
	// delay the commits behind it.
	pruneBatch = 2_000
	// pruneLook is how many records one transaction examines at most to find those of one
	// subscription.
	pruneLook = 50_000
	// pruneSlack: pruning goes 1/pruneSlack below a bound, so that a store at its bound is not
	// pruned with every commit.
	pruneSlack = 100
	// pruneEvery is how often the ages of records are checked.
	pruneEvery = time.Minute
	// dedupFor is how long duplicates of an event are detected at least, also after it was
	// pruned (contract: dedup keys live at least 24 hours).
	dedupFor = 24 * time.Hour
	// maxGone is how many identities of pruned events are kept, so that a store at its bound
	// does not grow under a feed that fills it within hours.
	maxGone = 2_000_000
)

const settingRetention = "retention"

// pruner removes what is beyond the bounds of the retention. The writer's goroutine alone
// touches scanned.
type pruner struct {
	mu   sync.Mutex
	keep event.Retention

	wake    chan struct{} // one slot: a bound was passed
	maxGone int
	scanned map[event.SubID]uint64 // of each bounded subscription: no record of its own is before this number
}

func newPruner() *pruner {
	return &pruner{
		keep: mappable(event.DefaultRetention(), boltfile.MaxFile), maxGone: maxGone, wake: make(chan struct{}, 1), scanned: map[event.SubID]uint64{},
	}
}

// Retention implements [event.Store].
func (s *Store) Retention() event.Retention {
	s.pruner.mu.Lock()
	defer s.pruner.mu.Unlock()
	return s.pruner.keep
}

// SetRetention implements [event.Store]. It returns when all records beyond the bounds are
// removed; the errors are those of [Store.SetSetting], and [ErrBatch] for a negative bound.
func (s *Store) SetRetention(ctx context.Context, r event.Retention) error {
	for _, l := range [...]event.Limits{r.Total, r.PerSub} {
		if l.Age < 0 || l.Bytes < 0 {
			return fmt.Errorf("%w: a bound of the retention is negative", ErrBatch)
		}
	}
	value, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("retention: %w", err)
	}
	if err := s.SetSetting(ctx, settingRetention, string(value)); err != nil {
		return err
	}
	s.pruner.mu.Lock()
	s.pruner.keep = mappable(r, boltfile.MaxFile)
	s.pruner.mu.Unlock()
	for s.pruneRound(ctx) {
	}
	return nil
}

// mappable returns a retention of at most half of what a file may have, where that is little:
// records are pruned then before the file is full.
func mappable(r event.Retention, file int64) event.Retention {
	if most := file / 2; most < 1<<40 && (r.Total.Bytes == 0 || r.Total.Bytes > most) {
		r.Total.Bytes = most
	}
	return r
}

// loadRetention reads the stored retention; if there is none, the default holds.
func (s *Store) loadRetention() error {
	value, err := s.Setting(settingRetention)
	if errors.Is(err, event.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var r event.Retention
	if err := json.Unmarshal([]byte(value), &r); err != nil {
		return fmt.Errorf("%w: the retention: %w", ErrDamaged, err)
	}
	s.pruner.keep = mappable(r, boltfile.MaxFile)
	return nil
}

func (p *pruner) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// overflow wakes the pruner when a bound of count or bytes was passed by the
// subscriptions in changed.
func (s *Store) overflow(changed map[event.SubID]tables.Amount) {
	keep := s.Retention()
	over := beyond(keep.Total, s.usage.all())
	for sub := range changed {
		over = over || beyond(keep.PerSub, s.usage.of(sub))
	}
	if over {
		s.pruner.signal()
	}
}

func beyond(l event.Limits, u tables.Amount) bool {
	return l.Records > 0 && u.Records > 0 && uint64(u.Records) > l.Records || l.Bytes > 0 && u.Bytes > l.Bytes
}

// reduced returns the bounds that pruning goes down to.
func reduced(l event.Limits) event.Limits {
	l.Records -= l.Records / pruneSlack
	l.Bytes -= l.Bytes / pruneSlack
	return l
}

// runPruner prunes until ctx ends. A round that failed is retried when there is the next
// reason to prune: the commit's error is the state of the store.
func (s *Store) runPruner(ctx context.Context) {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		for s.pruneRound(ctx) {
		}
		select {
		case <-s.pruner.wake:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// pruneRound removes one batch and reports whether there may be more to remove.
func (s *Store) pruneRound(ctx context.Context) bool {
	now := s.now()
	if !s.prunable(now) {
		return false
	}
	more := false
	err := s.do(ctx, func(c *commit) (err error) {
		more, err = c.prune(s.Retention(), now)
		return err
	})
	return err == nil && more
}

// prunable reports whether there may be something to prune.
func (s *Store) prunable(now time.Time) bool {
	keep := s.Retention()
	if beyond(keep.Total, s.usage.all()) || keep.PerSub.Age > 0 && s.Last() > 0 {
		return true
	}
	for _, u := range s.usage.each() {
		if beyond(keep.PerSub, u) {
			return true
		}
	}
	old := false
	err := s.view(func(tx *boltfile.Tx) error {
		old = keep.Total.Age > 0 && olderThan(tx.Bucket(tables.Events), now.Add(-keep.Total.Age)) ||
			olderThan(tx.Bucket(tables.Gone), now.Add(-dedupFor))
		return nil
	})
	return err == nil && old
}

// olderThan reports whether the first record of the bucket was received before t.
func olderThan(b boltfile.Bucket, t time.Time) bool {
	k, v := b.Cursor().First()
	if k == nil {
		return false
	}
	head, err := tables.DecodeRecordHead(v)
	return err == nil && head.ReceivedAt.Before(t)
}

// victim is a record to be removed.
type victim struct {
	seq  uint64
	head event.Record
	size int64
}

// makeRoom prunes in the transaction that added n records to a store at its bound. It removes
// at most 2n records, so that pruning keeps up with any feed.
func (c *commit) makeRoom(n int) error {
	keep := c.store.Retention()
	if n == 0 || !beyond(keep.Total, c.total()) {
		return nil
	}
	if _, err := c.pruneTotal(keep.Total, c.store.now(), 2*n); err != nil {
		return err
	}
	return c.dropHashes()
}

// total is the usage of the whole store as this transaction has it so far.
func (c *commit) total() tables.Amount {
	left := c.store.usage.all()
	for _, change := range c.usage {
		left = left.Plus(change)
	}
	return left
}

// pruneTotal removes at most n records beyond the bounds of the whole store.
func (c *commit) pruneTotal(l event.Limits, now time.Time, n int) (removed int, err error) {
	if err := c.forget(now, 2*n); err != nil {
		return 0, err
	}
	victims, err := c.oldest(l, now, n)
	if err != nil {
		return 0, err
	}
	return len(victims), c.remove(victims, now)
}

// prune removes what is beyond the bounds, at most about pruneBatch records.
func (c *commit) prune(keep event.Retention, now time.Time) (more bool, err error) {
	removed, err := c.pruneTotal(keep.Total, now, pruneBatch)
	if err != nil {
		return false, err
	}
	more = removed >= pruneBatch
	for sub, u := range c.store.usage.each() {
		limited := keep.PerSub.Age > 0 || beyond(keep.PerSub, u.Plus(c.usage[sub]))
		if !limited || removed >= pruneBatch {
			continue
		}
		own, further, err := c.oldestOf(sub, keep.PerSub, now)
		if err != nil {
			return false, err
		}
		if err := c.remove(own, now); err != nil {
			return false, err
		}
		removed += len(own)
		more = more || further
	}
	return more, c.dropHashes()
}

// oldest picks at most n of the oldest records beyond the bounds of the whole store.
func (c *commit) oldest(l event.Limits, now time.Time, n int) ([]victim, error) {
	left := c.total()
	var goal event.Limits
	if beyond(l, left) {
		goal = reduced(l)
	}
	var victims []victim
	cur := c.tx.Bucket(tables.Events).Cursor()
	for k, v := cur.First(); k != nil && len(victims) < n; k, v = cur.Next() {
		x, err := newVictim(k, v)
		if err != nil {
			return nil, err
		}
		aged := l.Age > 0 && now.Sub(x.head.ReceivedAt) > l.Age
		if !aged && !beyond(goal, left) {
			break
		}
		victims = append(victims, x)
		left = left.Plus(tables.Amount{Records: -1, Bytes: -x.size})
	}
	return victims, cur.Err()
}

// oldestOf picks the oldest records of one subscription beyond its bounds. It examines a
// bounded number of records and remembers where it stopped; further reports whether it has to
// continue there.
func (c *commit) oldestOf(sub event.SubID, l event.Limits, now time.Time) (victims []victim, further bool, err error) {
	left := c.store.usage.of(sub).Plus(c.usage[sub])
	var goal event.Limits
	if beyond(l, left) {
		goal = reduced(l)
	}
	scanned := c.store.pruner.scanned
	cur := c.tx.Bucket(tables.Events).Cursor()
	looked := 0
	for k, v := cur.Seek(tables.SeqKey(scanned[sub])); k != nil; k, v = cur.Next() {
		x, err := newVictim(k, v)
		if err != nil {
			return nil, false, err
		}
		aged := l.Age > 0 && now.Sub(x.head.ReceivedAt) > l.Age
		if !aged && !beyond(goal, left) {
			return victims, false, nil
		}
		if looked++; looked > pruneLook || len(victims) >= pruneBatch {
			return victims, true, nil
		}
		scanned[sub] = x.seq
		if x.head.Sub == sub {
			victims = append(victims, x)
			left = left.Plus(tables.Amount{Records: -1, Bytes: -x.size})
		}
	}
	return victims, false, cur.Err()
}

func newVictim(k, v []byte) (victim, error) {
	head, err := tables.DecodeRecordHead(v)
	if err != nil || len(k) != 8 {
		return victim{}, fmt.Errorf("%w: the record %x: %w", ErrDamaged, k, tables.ErrInvalidRecord)
	}
	return victim{seq: binary.BigEndian.Uint64(k), head: head, size: tables.RecordSize(v)}, nil
}

// remove deletes records, and keeps the identities of those younger than dedupFor.
func (c *commit) remove(victims []victim, now time.Time) error {
	events, gone := c.tx.Bucket(tables.Events), c.tx.Bucket(tables.Gone)
	gone.FillPages()
	for _, x := range victims {
		if err := events.Delete(tables.SeqKey(x.seq)); err != nil {
			return fmt.Errorf("prune record %d: %w", x.seq, err)
		}
		c.count(x.head.Sub, tables.Amount{Records: -1, Bytes: -x.size})
		id, ok := tables.Identify(&x.head)
		switch {
		case !ok:
		case now.Sub(x.head.ReceivedAt) >= dedupFor:
			c.drop(id, x.seq)
		default:
			r := x.head
			rest, err := tables.EncodeRecord(&event.Record{Kind: r.Kind, Sub: r.Sub, ReceivedAt: r.ReceivedAt, EventID: r.EventID, WebhookID: r.WebhookID})
			if err != nil {
				return err
			}
			if err := gone.Put(tables.SeqKey(x.seq), rest.Value); err != nil {
				return fmt.Errorf("prune record %d: %w", x.seq, err)
			}
		}
	}
	return nil
}

// drop forgets an identity when the transaction succeeds.
func (c *commit) drop(id tables.Identity, seq uint64) {
	for _, h := range id.Hashes(nil, c.store.hashID) {
		c.dropped = append(c.dropped, hashed{h, seq})
	}
}

// forget removes the identities of at most n pruned records that are old enough,
// or too many.
func (c *commit) forget(now time.Time, n int) error {
	gone := c.tx.Bucket(tables.Gone)
	known := int(gone.Entries())
	var old []victim
	cur := gone.Cursor()
	for k, v := cur.First(); k != nil && len(old) < n; k, v = cur.Next() {
		x, err := newVictim(k, v)
		if err != nil {
			return err
		}
		if now.Sub(x.head.ReceivedAt) < dedupFor && known-len(old) <= c.store.pruner.maxGone {
			break
		}
		old = append(old, x)
	}
	if cur.Err() != nil {
		return cur.Err()
	}
	for _, x := range old {
		if err := gone.Delete(tables.SeqKey(x.seq)); err != nil {
			return fmt.Errorf("forget record %d: %w", x.seq, err)
		}
		if id, ok := tables.Identify(&x.head); ok {
			c.drop(id, x.seq)
		}
	}
	return nil
}

// dropHashes deletes the dedup records whose records are all forgotten. The last one stays.
func (c *commit) dropHashes() error {
	live := c.last + 1
	for _, name := range [][]byte{tables.Events, tables.Gone} {
		first := c.tx.Bucket(name).Cursor()
		if k, _ := first.First(); len(k) == 8 {
			live = min(live, binary.BigEndian.Uint64(k))
		}
		if first.Err() != nil {
			return first.Err()
		}
	}
	dedup := c.tx.Bucket(tables.Dedup)
	var dead [][]byte
	cur := dedup.Cursor()
	k, _ := cur.First()
	for k != nil && len(dead) < pruneBatch {
		next, _ := cur.Next()
		if len(next) != 8 || binary.BigEndian.Uint64(next) > live {
			break
		}
		dead = append(dead, slices.Clone(k))
		k = next
	}
	if cur.Err() != nil {
		return cur.Err()
	}
	for _, k := range dead {
		if err := dedup.Delete(k); err != nil {
			return fmt.Errorf("dedup record %x: %w", k, err)
		}
	}
	return nil
}
