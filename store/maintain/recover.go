package maintain

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/private"
	"eventdeck/store/tables"
)

// Recover makes a sound store of what can be read of the one in dir: its records and its
// subscriptions. A subscription that lost records is taken from the newest sound snapshot, so
// that its server is asked again for the missing events, and gets a gap record; if the file
// does not tell which subscriptions lost records, that is done for all of them. The damaged
// file is moved aside. say is called with lines that tell what was kept and what was not.
//
// Subscriptions that are younger than the snapshot, or were removed after it, are named, get a gap
// record, and are paused as far as they can be read.
//
// The file is read page by page, without bbolt. No record gets a number above the last one
// given, and each event is kept once. After an error the damaged file is where it was.
//
// No process may have the store open.
//
// Errors: [ErrUnsure], with the store recovered; [boltfile.ErrLocked]; [boltfile.ErrNewer],
// [boltfile.ErrUnreleased]; [event.ErrDamaged] when no subscriptions
// can be read; the cause of ctx; those of the file system.
func Recover(ctx context.Context, dir string, now time.Time, say func(string)) error {
	return during("recover the store", (&recovery{dir: dir, now: now, say: say}).run(ctx))
}

type recovery struct {
	dir string
	now time.Time
	say func(string)

	to      *bolt.DB
	hashKey []byte
	known   *tables.HashTable    // the identities that were written
	lossy   map[event.SubID]bool // subscriptions that lost records; nil: any may have
	last    uint64               // the last number that is known to have been given
	kept    int                  // records
	doubled int                  // records that were there twice

	unsure map[event.SubID]*unsure // subscriptions that are missing, or came back

	generations []byte // of the file; nil: they cannot be read, and no earlier position is known
}

func (r *recovery) run(ctx context.Context) error {
	if err := datadir.NotInUse(r.dir); err != nil {
		return err
	}
	aside := ""
	err := private.Replace(r.dir, datadir.DB, func(temp string) (err error) {
		if r.to, err = datadir.OpenFile(temp, boltfile.Options{NoSync: true}); err != nil {
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
			err = datadir.ForgetSeen(r.dir)
		}
		if err == nil {
			aside, err = datadir.MoveAside(r.dir, "damaged", r.now)
		}
		return err
	})
	if err != nil {
		return err
	}
	if aside != "" {
		r.say(fmt.Sprintf("the old file is kept as %s", filepath.Join(r.dir, aside)))
	}
	if len(r.unsure) > 0 {
		return fmt.Errorf("%w: %s", ErrUnsure, event.Some(len(r.unsure), "subscription is", "subscriptions are")+" named above")
	}
	return nil
}

func (r *recovery) rebuild(ctx context.Context) error {
	found, err := readSalvage(ctx, filepath.Join(r.dir, datadir.DB))
	switch {
	case err == nil:
		defer found.close()
	case ctx.Err() != nil || datadir.IsMisplaced(err):
		return err
	default:
		r.say(fmt.Sprintf("nothing of the file can be read: %v", err))
	}
	lost := found.missing()
	r.tellLost(lost)
	if err := r.takeTables(ctx, found, lost); err != nil {
		return err
	}
	if found != nil {
		if found.fixed > 0 {
			r.say(event.Some(found.fixed, "record has its", "records have their") + " number again, which was damaged")
		}
		r.last = max(r.last, found.last)
		if err := r.log(ctx, found); err != nil {
			return err
		}
	}
	r.say(event.Some(r.kept, "record is", "records are") + " kept")
	if r.doubled > 0 {
		r.say(event.Some(r.doubled, "record was", "records were") + " there twice and is kept once")
	}
	return r.close(len(lost) > 0)
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

// takeTables takes over all tables but the log from the file, except for subscriptions that
// lost records: these come from the newest sound snapshot, so that no cursor is ahead of what
// is kept. If the file does not tell which these are, or a table is incomplete, everything
// comes from the snapshot.
func (r *recovery) takeTables(ctx context.Context, found *salvage, lost []span) (err error) {
	var own map[string]*foundTable
	if found != nil {
		own = found.tables
	}
	if meta := own[string(tables.Meta)]; meta != nil {
		r.generations = meta.get(tables.KeyGenerations)
	}
	whole := complete(own)
	if whole {
		if r.lossy, err = lossySubs(ctx, found, lost); err != nil {
			return err
		}
	}
	if whole && r.lossy != nil && len(r.lossy) == 0 {
		r.say("subscriptions, cursors and settings are those of the file")
		return r.take(own)
	}
	kept, name, err := r.newestSnapshot(ctx)
	switch {
	case err != nil:
		return err
	case whole && r.lossy != nil:
		if kept != nil {
			r.say(fmt.Sprintf("subscriptions, cursors and settings are those of the file, but for %s: %s",
				event.Some(len(r.lossy), "subscription that lost records", "subscriptions that lost records"), "as in "+name))
			own[string(tables.Subs)] = own[string(tables.Subs)].with(kept.tables[string(tables.Subs)], r.lossy)
		} else {
			r.say("subscriptions, cursors and settings are those of the file; there is no sound snapshot, so what is lost is not asked for again")
		}
		return r.take(own)
	case kept != nil:
		r.say(fmt.Sprintf("subscriptions, cursors and settings are those of %s: what was changed after that is lost", name))
		if found == nil || found.last == 0 {
			r.last = kept.last
		}
		if subs := own[string(tables.Subs)]; subs != nil && subs.whole {
			kept.tables[string(tables.Subs)] = subs.with(kept.tables[string(tables.Subs)], nil)
		} else if err := r.compare(found, kept, kept.tables, name); err != nil {
			return err
		}
		return r.take(kept.tables)
	case own[string(tables.Meta)] != nil && own[string(tables.Subs)] != nil:
		r.say("there is no sound snapshot: subscriptions, cursors and settings are those of the damaged file")
		if !own[string(tables.Subs)].whole {
			if err := r.compare(found, &salvage{}, own, "what can be read of the file"); err != nil {
				return err
			}
		}
		return r.take(own)
	}
	return fmt.Errorf("%w: neither the file nor a snapshot has subscriptions that can be read; put a copy back with `eventdeck store restore FILE`", event.ErrDamaged)
}

// newestSnapshot returns the newest sound snapshot and its name, nil if there is none.
func (r *recovery) newestSnapshot(ctx context.Context) (*salvage, string, error) {
	names, err := datadir.Snapshots(r.dir)
	if err != nil {
		return nil, "", err
	}
	for _, name := range names {
		kept, err := readSnapshot(ctx, filepath.Join(r.dir, name))
		if err == nil && complete(kept.tables) {
			return kept, name, nil
		}
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		if err == nil {
			err = errors.New("it is damaged")
		}
		r.say(fmt.Sprintf("%s cannot be used: %v", name, err))
	}
	return nil, "", nil
}

// lossySubs returns the subscriptions of which fewer records were found than the file counted.
// It is nil if these do not account for every missing number.
func lossySubs(ctx context.Context, found *salvage, lost []span) (map[event.SubID]bool, error) {
	out := map[event.SubID]bool{}
	if len(lost) == 0 {
		return out, nil
	}
	counted := found.tables[string(tables.Usage)]
	if counted == nil || !counted.whole {
		return nil, nil
	}
	have := map[event.SubID]int64{}
	for _, f := range found.log {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		value, err := found.value(f)
		if err != nil {
			return nil, err
		}
		head, _, _, err := identityOf(value)
		if err != nil {
			return nil, err
		}
		if !f.gone {
			have[head.Sub]++
		}
	}
	var missing uint64
	for i, key := range counted.keys {
		u, err := tables.DecodeUsage(counted.values[i])
		if err != nil || len(key) == 0 {
			return nil, nil
		}
		sub := event.SubID(key[1:])
		if n := u.Records - have[sub]; n > 0 {
			out[sub] = true
			missing += uint64(n)
		}
	}
	for _, s := range lost {
		missing -= s.last - s.first + 1
	}
	if missing != 0 {
		return nil, nil
	}
	return out, nil
}

// complete reports whether the tables that a store needs have all their entries.
func complete(from map[string]*foundTable) bool {
	for _, name := range [][]byte{tables.Meta, tables.Subs, tables.Settings} {
		if t := from[string(name)]; t == nil || !t.whole {
			return false
		}
	}
	return true
}

// with returns the table of subscriptions, with the given subscriptions, nil for all, as in another
// table where that has them.
func (t *foundTable) with(other *foundTable, subs map[event.SubID]bool) *foundTable {
	out := &foundTable{keys: t.keys, values: slices.Clone(t.values), whole: t.whole}
	for i, key := range out.keys {
		if subs != nil && !subs[event.SubID(key)] {
			continue
		}
		if value := other.get(key); value != nil {
			out.values[i] = value
		}
	}
	return out
}

// get returns the value of a key, nil if none exists.
func (t *foundTable) get(key []byte) []byte {
	if i := slices.IndexFunc(t.keys, func(k []byte) bool { return bytes.Equal(k, key) }); i >= 0 {
		return t.values[i]
	}
	return nil
}

// take makes the new store with what was found of the tables.
func (r *recovery) take(from map[string]*foundTable) error {
	return boltfile.Update(r.to, func(to *boltfile.Tx) error {
		if err := tables.Create(to, rand.Reader); err != nil {
			return err
		}
		for _, name := range tables.All {
			t := from[string(name)]
			if t == nil || bytes.Equal(name, tables.Usage) { // it is counted again
				continue
			}
			if !t.whole {
				r.say(fmt.Sprintf("of %s, what cannot be read is left out", name))
			}
			for i, key := range t.keys {
				if bytes.Equal(key, tables.KeyGenerations) && bytes.Equal(name, tables.Meta) {
					continue // a snapshot may have been taken of another log
				}
				if err := to.Bucket(name).Put(key, t.values[i]); err != nil {
					return err
				}
			}
		}
		if err := tables.PutLag(to, "the store was recovered"); err != nil {
			return err
		}
		key, err := to.Bucket(tables.Meta).Get(tables.KeyHash)
		r.hashKey = slices.Clone(key)
		return err
	})
}

// recoverGroup is how many records one transaction writes.
const recoverGroup = 1_000

// log copies the records that were found, and the identities of pruned ones.
func (r *recovery) log(ctx context.Context, from *salvage) error {
	r.known = tables.NewHashTable(len(from.log))
	for rest := from.log; len(rest) > 0; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		group := rest[:min(recoverGroup, len(rest))]
		rest = rest[len(group):]
		if err := boltfile.Update(r.to, func(tx *boltfile.Tx) error { return r.group(tx, from, group) }); err != nil {
			return fmt.Errorf("write what was kept: %w", err)
		}
	}
	return nil
}

// group writes some records, each identity once.
func (r *recovery) group(tx *boltfile.Tx, from *salvage, group []found) error {
	events, gone := tx.Bucket(tables.Events), tx.Bucket(tables.Gone)
	events.FillPages()
	gone.FillPages()
	var hashes []byte
	base := group[0].seq
	bySub := map[event.SubID]tables.Amount{}
	for _, f := range group {
		value, err := from.value(f)
		if err != nil {
			return err
		}
		head, id, has, err := identityOf(value)
		if err != nil {
			return err
		}
		if has {
			own := id.Hashes(nil, func(in tables.Space, sub event.SubID, text string) uint64 {
				return tables.KeyedHash(r.hashKey, in, sub, text)
			})
			known, err := r.isKnown(events, gone, id, own[0])
			if err != nil {
				return err
			}
			if known {
				r.doubled++
				continue
			}
			for _, h := range own {
				hashes = tables.AppendHash(hashes, f.seq-base, h)
				r.known.Insert(h, f.seq)
			}
		}
		into := events
		if f.gone {
			into = gone
		} else {
			bySub[head.Sub] = bySub[head.Sub].Plus(tables.Amount{Records: 1, Bytes: tables.RecordSize(value)})
			r.kept++
		}
		if err := into.Append(tables.SeqKey(f.seq), value, boltfile.Sum(value)); err != nil {
			return err
		}
		r.last = max(r.last, f.seq)
	}
	if err := addToUsage(tx, bySub); err != nil || hashes == nil {
		return err
	}
	return tx.Bucket(tables.Dedup).Put(tables.SeqKey(base), hashes)
}

// isKnown reports whether a record with the identity was written already.
func (r *recovery) isKnown(events, gone boltfile.Bucket, id tables.Identity, hash uint64) (bool, error) {
	for _, seq := range r.known.Find(nil, hash) {
		value, err := tables.Identified(events, gone, seq)
		if err != nil {
			return false, err
		}
		if have, err := tables.DecodeRecordHead(value); err == nil && id.Same(&have) {
			return true, nil
		}
	}
	return false, nil
}

func addToUsage(tx *boltfile.Tx, bySub map[event.SubID]tables.Amount) error {
	b := tx.Bucket(tables.Usage)
	for sub, u := range bySub {
		value, err := b.Get(tables.UsageKey(sub))
		if err != nil {
			return err
		}
		if value != nil {
			have, err := tables.DecodeUsage(value)
			if err != nil {
				return err
			}
			u = have.Plus(u)
		}
		if err := b.Put(tables.UsageKey(sub), tables.EncodeUsage(u)); err != nil {
			return err
		}
	}
	return nil
}

// close begins a new generation, sets the next sequence number, and records a gap for every
// subscription when records are missing.
func (r *recovery) close(missing bool) error {
	return boltfile.Update(r.to, func(tx *boltfile.Tx) error {
		subs, last, err := r.subs(tx)
		if err != nil {
			return err
		}
		if err := r.beginGeneration(tx, last); err != nil {
			return err
		}
		if last, err = r.gaps(tx, r.gapsOf(subs, missing), last); err != nil {
			return err
		}
		return tx.Bucket(tables.Events).SetCounter(last)
	})
}

// beginGeneration ends the newest generation of the file with the last number that is known to
// have been given. Without those of the file only the new one is known.
func (r *recovery) beginGeneration(tx *boltfile.Tx, last uint64) error {
	if r.generations == nil {
		return nil
	}
	if err := tx.Bucket(tables.Meta).Put(tables.KeyGenerations, r.generations); err != nil {
		return err
	}
	before, err := tables.LoadGenerations(tx)
	if err != nil {
		return err
	}
	id, err := tables.NewGeneration(rand.Reader)
	if err != nil {
		return err
	}
	return tables.PutGenerations(tx, before.Next(id, last))
}

// subs returns the subscriptions, and the last number that was given as far as the store
// shows it: printed records had a number too.
func (r *recovery) subs(tx *boltfile.Tx) (subs []event.Subscription, last uint64, err error) {
	last = r.last
	err = tx.Bucket(tables.Subs).Each(func(id, v []byte) error {
		k, err := tables.ReadSub(event.SubID(id), v)
		if err == nil {
			subs = append(subs, k.Sub)
			last = max(last, k.Sub.Printed)
		}
		return err
	})
	return subs, last, err
}

// gapsOf returns the gap records of the subscriptions that lost records, and of those that are
// missing or came back.
func (r *recovery) gapsOf(subs []event.Subscription, missing bool) (gaps []event.Record) {
	add := func(sub event.Subscription, certain bool) {
		gaps = append(gaps, event.Record{
			Kind: event.KindGap, Sub: sub.ID, Server: sub.Key.Server, Type: sub.Key.Type, Mode: sub.Mode,
			ReceivedAt: r.now.UTC(), Gap: &event.Gap{Cause: event.CauseDamaged, From: sub.LastSeen, To: r.now.UTC(), Certain: certain},
		})
	}
	for _, sub := range subs {
		certain := missing && (r.lossy == nil || r.lossy[sub.ID])
		if certain || r.unsure[sub.ID] != nil {
			add(sub, certain)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.unsure)) {
		if u := r.unsure[id]; !u.kept {
			add(u.sub, false)
		}
	}
	return gaps
}

// gaps adds gap records, and returns the last number given.
func (r *recovery) gaps(tx *boltfile.Tx, gaps []event.Record, last uint64) (uint64, error) {
	if len(gaps) == 0 {
		return last, nil
	}
	bySub := map[event.SubID]tables.Amount{}
	for i := range gaps {
		last++
		enc, err := tables.EncodeRecord(&gaps[i])
		if err != nil {
			return 0, err
		}
		bySub[gaps[i].Sub] = tables.Amount{Records: 1, Bytes: tables.RecordSize(enc.Value)}
		if err := tx.Bucket(tables.Events).Append(tables.SeqKey(last), enc.Value, boltfile.Sum(enc.Value)); err != nil {
			return 0, err
		}
	}
	r.say(event.Some(len(bySub), "subscription has", "subscriptions have") + " a gap record; what comes next is asked from the cursors above")
	return last, addToUsage(tx, bySub)
}
