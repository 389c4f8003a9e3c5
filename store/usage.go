package store

import (
	"fmt"
	"maps"
	"sync"

	"eventdeck/host/event"
	"eventdeck/store/tables"
)

// usageTable holds the committed usage of each subscription and in all. The
// writer alone changes it.
type usageTable struct {
	mu    sync.RWMutex
	total tables.Amount
	bySub map[event.SubID]tables.Amount
}

func (t *usageTable) all() tables.Amount {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.total
}

func (t *usageTable) of(sub event.SubID) tables.Amount {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.bySub[sub]
}

// each returns a copy of the usage of the subscriptions.
func (t *usageTable) each() map[event.SubID]tables.Amount {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return maps.Clone(t.bySub)
}

func (t *usageTable) publish(changes map[event.SubID]tables.Amount) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for sub, change := range changes {
		t.total = t.total.Plus(change)
		if now := t.bySub[sub].Plus(change); now.Records > 0 {
			t.bySub[sub] = now
		} else {
			delete(t.bySub, sub)
		}
	}
}

// count notes that records of sub came or went in this transaction.
func (c *commit) count(sub event.SubID, change tables.Amount) {
	c.usage[sub] = c.usage[sub].Plus(change)
}

func (c *commit) putUsage() error {
	b := c.tx.Bucket(tables.Usage)
	for sub, change := range c.usage {
		now := c.store.usage.of(sub).Plus(change)
		var err error
		if now.Records > 0 {
			err = b.Put(tables.UsageKey(sub), tables.EncodeUsage(now))
		} else {
			err = b.Delete(tables.UsageKey(sub))
		}
		if err != nil {
			return fmt.Errorf("usage of subscription %s: %w", sub, err)
		}
	}
	return nil
}
