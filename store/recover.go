package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
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
// Nobody may have the store open. A file whose pages make no sense may end the
// process: run it in one of its own; a run that was ended leaves the damaged file
// where it was.
//
// Errors: [ErrLocked]; [ErrDamaged] when nothing could be read and there is no
// snapshot; those of ctx and of the file system.
func Recover(ctx context.Context, dir string, now time.Time, say func(string)) error {
	r := &recovery{dir: dir, now: now, say: say}
	if err := r.run(ctx); err != nil {
		return fmt.Errorf("recover the store: %w", err)
	}
	return nil
}

type recovery struct {
	dir string
	now time.Time
	say func(string)

	to       *bolt.DB
	hashKey  []byte
	kept     int
	from, at uint64 // first and last missing record, 0 if none is
}

func (r *recovery) run(ctx context.Context) error {
	if err := notInUse(r.dir); err != nil {
		return err
	}
	aside := ""
	err := replaceFile(r.dir, fileDB, func(temp string) (err error) {
		old, err := r.openDamaged()
		if err != nil {
			r.say(fmt.Sprintf("nothing of the file can be read: %v", err))
		}
		if r.to, err = openBolt(temp, &bolt.Options{NoSync: true}); err != nil {
			return err
		}
		err = r.rebuild(ctx, old)
		if err == nil {
			err = r.to.Sync()
		}
		err = errors.Join(err, r.to.Close())
		if old != nil {
			err = errors.Join(err, old.Close())
		}
		if err == nil {
			err = checkDB(ctx, temp, func(string) {})
		}
		if err == nil {
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

// openDamaged opens the damaged file, nil if that cannot be done.
func (r *recovery) openDamaged() (*bolt.DB, error) {
	path := filepath.Join(r.dir, fileDB)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return nil, errors.New("it is empty")
	}
	return openBolt(path, &bolt.Options{ReadOnly: true})
}

func (r *recovery) rebuild(ctx context.Context, old *bolt.DB) error {
	missing, last := r.missing(ctx, old)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.control(old, missing); err != nil {
		return err
	}
	if old != nil {
		if err := r.records(ctx, old); err != nil {
			return err
		}
	}
	r.say(fmt.Sprintf("%d records are kept", r.kept))
	return r.close(missing, last)
}

// control takes over everything but the log.
func (r *recovery) control(old *bolt.DB, missing bool) error {
	if old != nil && !missing {
		if err := r.copyFrom(old); err == nil {
			r.say("subscriptions, cursors and settings are those of the file")
			return nil
		}
	}
	names, err := snapshots(r.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		db, err := openReadOnly(r.dir, name)
		if err == nil {
			err = errors.Join(r.copyFrom(db), db.Close())
		}
		if err == nil {
			r.say(fmt.Sprintf("subscriptions, cursors and settings are those of %s: what was changed after that is lost", name))
			return nil
		}
		r.say(fmt.Sprintf("%s cannot be used: %v", name, err))
	}
	if old != nil {
		if err := r.copyFrom(old); err == nil {
			r.say("there is no sound snapshot: subscriptions, cursors and settings are those of the damaged file")
			return nil
		}
	}
	return fmt.Errorf("%w: neither the file nor a snapshot has subscriptions that can be read; put a copy back with `eventdeck store restore FILE`", ErrDamaged)
}

// copyFrom takes over everything but the log, or nothing.
func (r *recovery) copyFrom(db *bolt.DB) error {
	err := guard(nil, func() error {
		return db.View(func(from *bolt.Tx) error {
			return r.to.Update(func(to *bolt.Tx) error {
				if err := copyControl(to, from); err != nil {
					return err
				}
				for _, name := range tables {
					if to.Bucket(name) == nil {
						return fmt.Errorf("%w: the table %s is missing", ErrDamaged, name)
					}
				}
				r.hashKey = append([]byte(nil), to.Bucket(bucketMeta).Get(metaHashKey)...)
				return nil
			})
		})
	})
	return err
}

// missing reports whether there are records that cannot be read, and the last
// sequence number that was given, as far as that is known.
func (r *recovery) missing(ctx context.Context, old *bolt.DB) (missing bool, last uint64) {
	if old == nil {
		return true, 0
	}
	first, err := r.scan(ctx, old, 0, forward, func(uint64, []byte) error { return nil })
	if err == nil {
		return false, first
	}
	r.say(fmt.Sprintf("the log can be read up to record %d: %v", first, err))
	end, newest := uint64(0), uint64(0)
	_, back := r.scan(ctx, old, 0, backward, func(seq uint64, _ []byte) error {
		if seq <= first {
			return errStop
		}
		end, newest = seq, max(newest, seq)
		return nil
	})
	r.from = first + 1
	if end > 0 {
		r.at = end - 1
		r.say(fmt.Sprintf("and again from record %d to %d", end, newest))
	} else if back != nil && !errors.Is(back, errStop) {
		r.say(fmt.Sprintf("from its end nothing can be read: %v", back))
	}
	return true, max(first, newest)
}

var errStop = errors.New("far enough")

// scanChunk bounds what is read between two looks at the guard.
const scanChunk = 1_000

type direction bool

const (
	forward  direction = true
	backward direction = false
)

// scan calls fn for the records of a file, forward from seq on or backward from
// the newest, and returns the last sequence number for which it could. fn must
// not keep the value.
func (r *recovery) scan(ctx context.Context, db *bolt.DB, seq uint64, dir direction, fn func(uint64, []byte) error) (last uint64, err error) {
	err = guard(nil, func() error {
		return db.View(func(tx *bolt.Tx) error {
			b := tx.Bucket(bucketEvents)
			if b == nil {
				return fmt.Errorf("%w: the table events is missing", ErrDamaged)
			}
			cur := b.Cursor()
			step := cur.Next
			k, v := cur.Seek(seqKey(seq))
			if dir == backward {
				step = cur.Prev
				k, v = cur.Last()
			}
			for n := 1; k != nil; k, v = step() {
				if n++; n%scanChunk == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if len(k) != 8 {
					return fmt.Errorf("%w: a record has the key %x", ErrDamaged, k)
				}
				at := binary.BigEndian.Uint64(k)
				if _, err := decodeRecord(at, v); err != nil {
					return fmt.Errorf("%w: record %d: %w", ErrDamaged, at, err)
				}
				if err := fn(at, v); err != nil {
					return err
				}
				last = at
			}
			return nil
		})
	})
	return last, err
}

// records copies what can be read, in order.
func (r *recovery) records(ctx context.Context, old *bolt.DB) error {
	w := &salvage{recovery: r}
	_, err := r.scan(ctx, old, 0, forward, w.add)
	if w.err != nil || ctx.Err() != nil {
		return errors.Join(w.err, ctx.Err())
	}
	if err != nil && r.at > 0 {
		_, err = r.scan(ctx, old, r.at+1, forward, w.add)
		if w.err != nil || ctx.Err() != nil {
			return errors.Join(w.err, ctx.Err())
		}
	}
	return w.flush()
}

// salvage writes records into the new file, in groups.
type salvage struct {
	*recovery
	group []struct {
		seq   uint64
		value []byte
	}
	err error // of the new file
}

func (w *salvage) add(seq uint64, value []byte) error {
	w.group = append(w.group, struct {
		seq   uint64
		value []byte
	}{seq, append([]byte(nil), value...)})
	if len(w.group) < scanChunk {
		return nil
	}
	w.err = w.flush()
	return w.err
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
			for _, h := range id.hashes(func(in space, sub event.SubID, text string) uint64 { return keyedHash(w.hashKey, in, sub, text) }) {
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
func (r *recovery) close(missing bool, last uint64) error {
	return r.to.Update(func(tx *bolt.Tx) error {
		events := tx.Bucket(bucketEvents)
		last = max(last, events.Sequence())
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
	if r.from > 0 && r.at > 0 {
		r.say(fmt.Sprintf("records %d to %d are lost", r.from, r.at))
	} else if r.from > 0 {
		r.say(fmt.Sprintf("records from %d on are lost", r.from))
	}
	r.say(fmt.Sprintf("%d subscriptions have a gap record; their servers are asked again from the cursors of the snapshot", subs))
	return last, addToUsage(tx, bySub)
}
