package store

import (
	"fmt"
	"slices"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

// commit is one write transaction. What it changes in memory is collected here
// and published only when the transaction has succeeded.
type commit struct {
	store *Store
	tx    *boltfile.Tx
	txid  int

	last     uint64 // newest sequence number
	stored   []event.Record
	outcomes []event.Outcome
	hashes   []hashed
	byHash   map[uint64][]uint64
	dropped  []hashed                        // identities that are forgotten
	usage    map[event.SubID]tables.Amount   // changes
	subs     map[event.SubID]*tables.KeptSub // nil: removed
	audited  uint64                          // newest entry of the audit log, 0: none was added
	begins   bool                            // the newest generation
	decided  bool                            // a subscription was made, removed or changed by decision
	outside  bool                            // code of the caller is running
	failed   error                           // of the hook that fails commits
}

type hashed struct{ hash, seq uint64 }

// write applies the jobs and commits them, or none of them.
func (c *commit) write(jobs []*job) error {
	c.outcomes = make([]event.Outcome, len(jobs))
	records := 0
	for _, j := range jobs {
		records += len(j.entries)
	}
	c.stored = make([]event.Record, 0, records)
	c.hashes = make([]hashed, 0, records)
	c.byHash = make(map[uint64][]uint64, records)
	c.subs = map[event.SubID]*tables.KeptSub{}
	c.usage = map[event.SubID]tables.Amount{}
	err := c.store.update(func() bool { return c.outside }, func(tx *boltfile.Tx) error {
		c.tx, c.txid = tx, tx.ID()
		if err := c.apply(jobs); err != nil {
			return err
		}
		if before := c.store.hooks.BeforeCommit; before != nil {
			c.callOut(before)
		}
		if fail := c.store.hooks.FailBefore; fail != nil {
			c.callOut(func() { c.failed = fail() })
		}
		return c.failed
	})
	if fail := c.store.hooks.FailAfter; err == nil && fail != nil {
		err = fail()
	}
	return err
}

func (c *commit) apply(jobs []*job) error {
	first := c.last + 1
	events := c.tx.Bucket(tables.Events)
	events.FillPages()
	for i, j := range jobs {
		if j.change != nil {
			if err := j.change(c); err != nil {
				return err
			}
			continue
		}
		for k := range j.entries {
			if err := c.record(events, &j.entries[k], &c.outcomes[i]); err != nil {
				return err
			}
		}
		did, err := c.subscriptionOf(j)
		if err != nil {
			return err
		}
		if err := c.audit(j.batch.Audit, did); err != nil {
			return err
		}
	}
	if err := c.makeRoom(int(c.last + 1 - first)); err != nil {
		return err
	}
	if c.last >= first {
		if err := events.SetCounter(c.last); err != nil {
			return err
		}
		if err := c.beginGeneration(first - 1); err != nil {
			return err
		}
	}
	if err := c.putHashes(first); err != nil {
		return err
	}
	if err := c.putUsage(); err != nil {
		return err
	}
	c.putSigns(len(jobs) == 0)
	return c.putSubs()
}

// callOut runs fn, which is code of the caller: the store must not recover its panics.
func (c *commit) callOut(fn func()) {
	c.outside = true
	fn()
	c.outside = false
}

// record stores one record unless it is a duplicate.
func (c *commit) record(events boltfile.Bucket, e *entry, out *event.Outcome) error {
	dup, changed, err := c.isDuplicate(events, e)
	if err != nil {
		return err
	}
	if dup {
		out.Duplicates++
		if changed {
			out.Changed++
		}
		return nil
	}
	c.last++
	if err := events.Append(tables.SeqKey(c.last), e.value, e.sum); err != nil {
		return fmt.Errorf("record %d: %w", c.last, err)
	}
	for _, h := range e.hashes[:e.hashed] {
		c.hashes = append(c.hashes, hashed{h, c.last})
		c.byHash[h] = append(c.byHash[h], c.last)
	}
	c.count(e.rec.Sub, tables.Amount{Records: 1, Bytes: tables.RecordSize(e.value)})
	e.rec.Seq = c.last
	c.stored = append(c.stored, e.rec)
	out.Stored++
	out.Last = c.last
	return nil
}

// isDuplicate compares the record with the stored records that have its hash, both committed
// and of this transaction: equal hashes alone prove nothing. changed reports whether the
// content of a duplicate differs.
func (c *commit) isDuplicate(events boltfile.Bucket, e *entry) (dup, changed bool, err error) {
	if e.hashed == 0 {
		return false, false, nil
	}
	look := e.hashes[0]
	for _, seq := range c.store.index.find(c.byHash[look], look) {
		value, err := tables.Identified(events, c.tx.Bucket(tables.Gone), seq)
		if err != nil {
			return false, false, err
		}
		if value == nil {
			continue
		}
		stored, err := tables.DecodeRecordHead(value)
		if err != nil {
			return false, false, fmt.Errorf("%w: record %d: %w", ErrDamaged, seq, err)
		}
		if e.id.Same(&stored) {
			return true, isChanged(value, &e.rec), nil
		}
	}
	return false, false, nil
}

// subscriptionOf applies a job's batch to its subscription, unless that was done.
func (c *commit) subscriptionOf(j *job) (did tables.SubChange, err error) {
	known := j.changed
	if known == nil {
		return c.subscription(&j.batch)
	}
	if known.sub != nil {
		c.subs[j.batch.Sub] = known.sub
	}
	c.decided = c.decided || known.decided
	return known.did, known.err
}

// subscription applies a batch's cursor, update and removal, and returns whether it made or
// removed the subscription.
func (c *commit) subscription(b *event.Batch) (did tables.SubChange, err error) {
	kept, known := c.changing(b.Sub)
	if known && (b.Update != nil || b.Cursor != nil) || b.Update != nil && !b.IfKept {
		before, args, status, was := kept.Secrets(), kept.Sub.Key.Args, kept.Sub.Lease.Status, kept.Sub
		sub := &kept.Sub
		if b.Cursor != nil {
			sub.MoveTo(*b.Cursor, b.Newest)
		}
		if b.Update != nil {
			c.outside = true
			b.Update(sub)
			c.outside = false
		}
		sub.ID = b.Sub
		if len(args) != len(sub.Key.Args) || len(args) > 0 && &args[0] != &sub.Key.Args[0] {
			sub.Key.Args = slices.Clone(sub.Key.Args) // those of the caller
		}
		sub.Shown = slices.Clone(sub.Shown)
		if given := sub.Lease.Status; given != nil && given != status {
			own := *given
			sub.Lease.Status = &own
		}
		if err := kept.Seal(before, c.store.key.state.Load().sealer); err != nil {
			return did, err
		}
		c.subs[b.Sub], did.Made = kept, !known
		c.decided = c.decided || !known || decidedAnew(&was, sub)
	}
	if b.Remove {
		c.subs[b.Sub], c.decided, did.Removed = nil, true, known
	}
	for _, e := range b.Ended {
		if err := c.putEnded(e); err != nil {
			return did, err
		}
	}
	return did, nil
}

func (c *commit) audit(entries []event.AuditEntry, did tables.SubChange) error {
	for _, e := range entries {
		if err := c.putAudit(e, did); err != nil {
			return err
		}
	}
	return nil
}

// changing returns a subscription for changing, as this transaction has it so far; an empty
// one if it is not known.
func (c *commit) changing(id event.SubID) (k *tables.KeptSub, known bool) {
	k, changed := c.subs[id]
	switch {
	case k != nil:
		return k, true
	case changed: // removed
		return &tables.KeptSub{}, false
	}
	have, known := c.store.subs.get(id)
	have.Sub = cloneSub(have.Sub)
	return &have, known
}

func (c *commit) putHashes(base uint64) error {
	if len(c.hashes) == 0 {
		return nil
	}
	var value []byte
	for _, h := range c.hashes {
		value = tables.AppendHash(value, h.seq-base, h.hash)
	}
	dedup := c.tx.Bucket(tables.Dedup)
	dedup.FillPages()
	if err := dedup.Put(tables.SeqKey(base), value); err != nil {
		return fmt.Errorf("dedup record %d: %w", base, err)
	}
	return nil
}

func (c *commit) putSubs() error {
	if len(c.subs) == 0 {
		return nil
	}
	b := c.tx.Bucket(tables.Subs)
	for id, k := range c.subs {
		if k == nil {
			if err := b.Delete([]byte(id)); err != nil {
				return fmt.Errorf("remove subscription %s: %w", id, err)
			}
			continue
		}
		value, err := k.Encode()
		if err != nil {
			return fmt.Errorf("subscription %s: %w", id, err)
		}
		if err := b.Put([]byte(id), value); err != nil {
			return fmt.Errorf("subscription %s: %w", id, err)
		}
	}
	return nil
}

// landed reports whether a failed transaction is visible all the same: when the last sync
// fails, its meta page may already be in the file. Memory must follow what readers see, or the
// next commit would reuse its sequence numbers.
func (c *commit) landed() bool {
	if c.txid == 0 || c.store.failed() != nil {
		return false
	}
	visible := 0
	err := c.store.view(func(tx *boltfile.Tx) error {
		visible = tx.ID()
		return nil
	})
	return err == nil && visible == c.txid
}
