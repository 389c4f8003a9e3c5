package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
)

// Recover makes a sound store of what can be read of the one in dir: its records,
// and its subscriptions; where records are missing the subscriptions are those
// of the newest sound snapshot, so that servers are asked again for what is
// missing. Each of them gets a gap record. The damaged file is moved aside. say
// gets an account of what was kept and what was not.
//
// Records are read page by page, which no damage can mislead. Subscriptions are
// read with bbolt, which damage may lead astray: run it in a process of its own,
// and if that dies, again without useFile, which takes them from a snapshot only.
// A run that was ended leaves the damaged file where it was.
//
// Nobody may have the store open.
//
// Errors: [ErrLocked]; [ErrDamaged] when there are no subscriptions that can be
// read; those of ctx and of the file system.
func Recover(ctx context.Context, dir string, useFile bool, now time.Time, say func(string)) error {
	r := &recovery{dir: dir, useFile: useFile, now: now, say: say}
	if err := r.run(ctx); err != nil {
		return fmt.Errorf("recover the store: %w", err)
	}
	return nil
}

type recovery struct {
	dir     string
	useFile bool
	now     time.Time
	say     func(string)

	to      *bolt.DB
	hashKey []byte
	kept    int
}

func (r *recovery) run(ctx context.Context) error {
	if err := notInUse(r.dir); err != nil {
		return err
	}
	aside := ""
	err := replaceFile(r.dir, fileDB, func(temp string) (err error) {
		if r.to, err = openBolt(temp, &bolt.Options{NoSync: true}); err != nil {
			return err
		}
		err = r.rebuild(ctx)
		if err == nil {
			err = r.to.Sync()
		}
		if err = errors.Join(err, r.to.Close()); err != nil {
			return err
		}
		if err = checkDB(ctx, temp, func(string) {}); err == nil {
			aside, err = moveAside(r.dir, "damaged", r.now)
		}
		return err
	})
	if err != nil {
		return err
	}
	if aside != "" {
		r.say(fmt.Sprintf("the damaged file is kept as %s", filepath.Join(r.dir, aside)))
	}
	return nil
}

func (r *recovery) rebuild(ctx context.Context) error {
	found, err := readPages(ctx, filepath.Join(r.dir, fileDB))
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		r.say(fmt.Sprintf("nothing of the file can be read: %v", err))
	} else {
		defer found.close()
	}
	last := uint64(0)
	if r.useFile && found != nil {
		last = r.lastGiven()
	}
	lost := found.missing(last)
	r.tellLost(lost)
	if err := r.control(len(lost) > 0); err != nil {
		return err
	}
	if err := r.records(ctx, found); err != nil {
		return err
	}
	r.say(event.Some(r.kept, "record is", "records are") + " kept")
	return r.close(len(lost) > 0)
}

// readFile gives fn a read transaction on the damaged file.
func (r *recovery) readFile(fn func(*bolt.Tx) error) error {
	db, err := openReadOnly(r.dir, fileDB)
	if err != nil {
		return err
	}
	return errors.Join(guard(nil, func() error { return db.View(fn) }), db.Close())
}

// lastGiven returns the last sequence number that the file has given, 0 if it
// does not say.
func (r *recovery) lastGiven() (last uint64) {
	_ = r.readFile(func(tx *bolt.Tx) error {
		if b := tx.Bucket(bucketEvents); b != nil {
			last = b.Sequence()
		}
		return nil
	})
	return last
}

// tellLost names the ranges in which records were lost, a few of them.
func (r *recovery) tellLost(lost []span) {
	const few = 10
	for _, s := range lost[:min(few, len(lost))] {
		r.say(fmt.Sprintf("lost: records %v", s))
	}
	if len(lost) > few {
		r.say("and in " + event.Some(len(lost)-few, "further place", "further places"))
	}
}

// control takes over everything but the log: from the file if its log is whole,
// else from the newest sound snapshot, so that no cursor is ahead of what is kept.
func (r *recovery) control(missing bool) error {
	fromFile := func(whole bool) error {
		if !r.useFile {
			return errors.New("it is left out")
		}
		return r.readFile(func(tx *bolt.Tx) error { return r.copyFrom(tx, whole) })
	}
	if !missing && fromFile(true) == nil {
		r.say("subscriptions, cursors and settings are those of the file")
		return nil
	}
	names, err := snapshots(r.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		db, err := openReadOnly(r.dir, name)
		if err == nil {
			err = errors.Join(guard(nil, func() error { return db.View(func(tx *bolt.Tx) error { return r.copyFrom(tx, true) }) }), db.Close())
		}
		if err == nil {
			r.say(fmt.Sprintf("subscriptions, cursors and settings are those of %s: what was changed after that is lost", name))
			return nil
		}
		r.say(fmt.Sprintf("%s cannot be used: %v", name, err))
	}
	if fromFile(false) == nil {
		r.say("there is no sound snapshot: subscriptions, cursors and settings are those of the damaged file")
		return nil
	}
	return fmt.Errorf("%w: neither the file nor a snapshot has subscriptions that can be read; put a copy back with `eventdeck store restore FILE`", ErrDamaged)
}

// copyFrom takes over everything but the log, or nothing: whole refuses a file in
// which something cannot be read, otherwise that is left out.
func (r *recovery) copyFrom(from *bolt.Tx, whole bool) error {
	return r.to.Update(func(to *bolt.Tx) error {
		if err := copyControl(to, from); err != nil {
			return err
		}
		if err := upgrade(to, nil); err != nil {
			return err
		}
		for _, name := range tables {
			if to.Bucket(name) == nil {
				return fmt.Errorf("%w: the table %s is missing", ErrDamaged, name)
			}
		}
		if err := r.leaveOut(to, whole); err != nil {
			return err
		}
		r.hashKey = append([]byte(nil), to.Bucket(bucketMeta).Get(metaHashKey)...)
		return nil
	})
}

// leaveOut removes the entries that cannot be read.
func (r *recovery) leaveOut(to *bolt.Tx, whole bool) error {
	sealed, err := newSealer(make([]byte, 32), nil) // opens nothing
	if err != nil {
		return err
	}
	subReads := func(k, v []byte) bool {
		_, err := decodeSub(event.SubID(k), v, sealed)
		return err == nil
	}
	jsonReads := func(_, v []byte) bool { return json.Valid(v) }
	for _, t := range []struct {
		name  []byte
		reads func(k, v []byte) bool
	}{{bucketSubs, subReads}, {bucketServers, jsonReads}, {bucketEnded, jsonReads}} {
		var bad [][]byte
		b := to.Bucket(t.name)
		err := b.ForEach(func(k, v []byte) error {
			if !t.reads(k, v) {
				bad = append(bad, bytes.Clone(k))
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(bad) > 0 && whole {
			return fmt.Errorf("%w: %s of %s cannot be read", ErrDamaged, event.Some(len(bad), "entry", "entries"), t.name)
		}
		for _, k := range bad {
			r.say(fmt.Sprintf("the entry %q of %s cannot be read and is left out", k, t.name))
			if err := b.Delete(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// records copies what was found.
func (r *recovery) records(ctx context.Context, found *pages) error {
	w := &salvage{recovery: r}
	if err := found.each(ctx, w.add); err != nil {
		return err
	}
	return w.flush()
}

// salvageGroup is how many records one transaction of a salvage writes.
const salvageGroup = 1_000

// salvage writes records into the new file, in groups.
type salvage struct {
	*recovery
	group []kept
}

// kept is a record that could be read.
type kept struct {
	seq   uint64
	value []byte
}

func (w *salvage) add(seq uint64, value []byte) error {
	w.group = append(w.group, kept{seq, append([]byte(nil), value...)})
	if len(w.group) < salvageGroup {
		return nil
	}
	return w.flush()
}

func (w *salvage) flush() error {
	if len(w.group) == 0 {
		return nil
	}
	err := w.to.Update(func(tx *bolt.Tx) error {
		events := tx.Bucket(bucketEvents)
		events.FillPercent = fillPercent
		var hashes []byte
		base := w.group[0].seq
		bySub := map[event.SubID]usage{}
		for _, g := range w.group {
			if err := events.Put(seqKey(g.seq), g.value); err != nil {
				return err
			}
			head, err := decodeHead(g.value)
			if err != nil {
				return err
			}
			bySub[head.Sub] = bySub[head.Sub].plus(usage{1, recordSize(g.value)})
			id, ok := identify(&head)
			if !ok {
				continue
			}
			for _, h := range id.hashes(nil, func(in space, sub event.SubID, text string) uint64 { return keyedHash(w.hashKey, in, sub, text) }) {
				hashes = appendHash(hashes, g.seq-base, h)
			}
		}
		w.kept += len(w.group)
		if err := addToUsage(tx, bySub); err != nil {
			return err
		}
		if hashes == nil {
			return nil
		}
		return tx.Bucket(bucketDedup).Put(seqKey(base), hashes)
	})
	w.group = w.group[:0]
	if err != nil {
		return fmt.Errorf("write what was kept: %w", err)
	}
	return nil
}

func addToUsage(tx *bolt.Tx, bySub map[event.SubID]usage) error {
	_, have, err := loadUsage(tx)
	if err != nil {
		return err
	}
	for sub, u := range bySub {
		if err := tx.Bucket(bucketUsage).Put(usageKey(sub), encodeUsage(have[sub].plus(u))); err != nil {
			return err
		}
	}
	return nil
}

// close sets the next sequence number, and records a gap for every subscription
// when records are missing.
func (r *recovery) close(missing bool) error {
	return r.to.Update(func(tx *bolt.Tx) error {
		events := tx.Bucket(bucketEvents)
		last := events.Sequence()
		if k, _ := events.Cursor().Last(); len(k) == 8 {
			last = max(last, binary.BigEndian.Uint64(k))
		}
		if missing {
			var err error
			if last, err = r.gaps(tx, last); err != nil {
				return err
			}
		}
		return events.SetSequence(last)
	})
}

func (r *recovery) gaps(tx *bolt.Tx, last uint64) (uint64, error) {
	sealed, err := newSealer(make([]byte, 32), nil) // opens nothing
	if err != nil {
		return 0, err
	}
	subs := 0
	bySub := map[event.SubID]usage{}
	err = tx.Bucket(bucketSubs).ForEach(func(id, v []byte) error {
		k, err := decodeSub(event.SubID(id), v, sealed)
		if err != nil {
			return err
		}
		subs++
		last++
		enc, err := encodeRecord(&event.Record{
			Kind: event.KindGap, Sub: k.sub.ID, Server: k.sub.Key.Server, Type: k.sub.Key.Type, Mode: k.sub.Mode,
			ReceivedAt: r.now.UTC(), Gap: &event.Gap{Cause: event.CauseDamaged, From: k.sub.LastSeen, To: r.now.UTC(), Certain: true},
		})
		if err != nil {
			return err
		}
		bySub[k.sub.ID] = usage{1, recordSize(enc.value)}
		return tx.Bucket(bucketEvents).Put(seqKey(last), enc.value)
	})
	if err != nil {
		return 0, err
	}
	r.say(event.Some(subs, "subscription has", "subscriptions have") + " a gap record; what comes next is asked from the cursors above")
	return last, addToUsage(tx, bySub)
}
