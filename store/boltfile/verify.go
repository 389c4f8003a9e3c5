package boltfile

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Verify reads every entry and calls say for each damaged entry, for missing entries, and for
// what else is wrong with the buckets.
//
// Error: the cause of ctx.
func (t *Tx) Verify(ctx context.Context, say func(error)) error {
	names, err := t.Names()
	if err != nil {
		return err
	}
	for _, y := range t.tallies {
		b := t.tx.Bucket(y.name)
		if b == nil {
			say(fmt.Errorf("the table %s is missing", y.name))
			continue
		}
		if err := y.verify(ctx, b, say); err != nil {
			return err
		}
	}
	for _, name := range names {
		if t.tally(name) == nil {
			say(fmt.Errorf("the table %q is none of the store's", name))
		}
	}
	return nil
}

func (y *tally) verify(ctx context.Context, b *bolt.Bucket, say func(error)) error {
	var entries uint64
	var sums uint32
	var before []byte
	wrong := 0
	bad := func(err error) {
		wrong++
		say(err)
	}
	if n := b.Sequence(); n != 0 {
		bad(fmt.Errorf("the table %s has the counter %d, and must have none", y.name, n))
	}
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if entries%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if before != nil && bytes.Compare(before, k) >= 0 {
			bad(damaged(y.name, k, "it is out of order"))
			return nil
		}
		before = k
		if Own(y.name, k) {
			continue
		}
		entries++
		sums ^= sumOf(y, k, v)
		if _, err := Open(y.name, k, v); err != nil {
			bad(err)
		}
	}
	switch {
	case entries != y.entries:
		bad(fmt.Errorf("the table %s has %d entries, and %d were written", y.name, entries, y.entries))
	case wrong == 0 && sums != y.sums:
		bad(fmt.Errorf("an entry of the table %s is an older one than was written last", y.name))
	}
	return nil
}
