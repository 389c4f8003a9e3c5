package store

import (
	"encoding/binary"
	"fmt"
	"maps"
	"sync"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
)

// usage is how much of the log something takes. As a change it may be negative.
type usage struct{ records, bytes int64 }

func (u usage) plus(v usage) usage { return usage{u.records + v.records, u.bytes + v.bytes} }

// recordSize is what a record counts: its value and its key.
func recordSize(value []byte) int64 { return int64(len(value)) + 8 }

// usageTable holds the committed usage of each subscription and in all. The
// writer alone changes it.
type usageTable struct {
	mu    sync.RWMutex
	total usage
	bySub map[event.SubID]usage
}

func (t *usageTable) all() usage {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.total
}

func (t *usageTable) of(sub event.SubID) usage {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.bySub[sub]
}

// each returns a copy of the usage of the subscriptions.
func (t *usageTable) each() map[event.SubID]usage {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return maps.Clone(t.bySub)
}

func (t *usageTable) publish(changes map[event.SubID]usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for sub, change := range changes {
		t.total = t.total.plus(change)
		if now := t.bySub[sub].plus(change); now.records > 0 {
			t.bySub[sub] = now
		} else {
			delete(t.bySub, sub)
		}
	}
}

// usageKey is never empty, since a record may have no subscription.
func usageKey(sub event.SubID) []byte { return append([]byte{'s'}, sub...) }

func encodeUsage(u usage) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(u.records)), uint64(u.bytes))
}

func decodeUsage(value []byte) (usage, error) {
	records, n := binary.Uvarint(value)
	if n <= 0 {
		return usage{}, errCodec
	}
	bytes, m := binary.Uvarint(value[n:])
	if m <= 0 || n+m != len(value) {
		return usage{}, errCodec
	}
	return usage{int64(records), int64(bytes)}, nil
}

// count notes that records of sub came or went in this transaction.
func (c *commit) count(sub event.SubID, change usage) {
	c.usage[sub] = c.usage[sub].plus(change)
}

func (c *commit) putUsage() error {
	b := c.tx.Bucket(bucketUsage)
	for sub, change := range c.usage {
		now := c.store.usage.of(sub).plus(change)
		var err error
		if now.records > 0 {
			err = b.Put(usageKey(sub), encodeUsage(now))
		} else {
			err = b.Delete(usageKey(sub))
		}
		if err != nil {
			return fmt.Errorf("usage of subscription %s: %w", sub, err)
		}
	}
	return nil
}

func loadUsage(tx *boltfile.Tx) (total usage, bySub map[event.SubID]usage, err error) {
	bySub = map[event.SubID]usage{}
	err = tx.Bucket(bucketUsage).Each(func(k, v []byte) error {
		u, err := decodeUsage(v)
		if err != nil || len(k) == 0 || k[0] != 's' {
			return fmt.Errorf("%w: the usage record %q", ErrDamaged, k)
		}
		bySub[event.SubID(k[1:])] = u
		total = total.plus(u)
		return nil
	})
	return total, bySub, err
}

// addUsage makes the buckets that retention needs, and counts what is there.
func addUsage(tx *boltfile.Tx) error {
	for _, name := range [][]byte{bucketUsage, bucketGone} {
		if err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	bySub := map[event.SubID]usage{}
	err := tx.Bucket(bucketEvents).Each(func(k, v []byte) error {
		head, err := decodeHead(v)
		if err != nil {
			return fmt.Errorf("%w: the record %x: %w", ErrDamaged, k, err)
		}
		bySub[head.Sub] = bySub[head.Sub].plus(usage{1, recordSize(v)})
		return nil
	})
	if err != nil {
		return err
	}
	b := tx.Bucket(bucketUsage)
	for sub, u := range bySub {
		if err := b.Put(usageKey(sub), encodeUsage(u)); err != nil {
			return err
		}
	}
	return nil
}
