package maintain

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"eventdeck/host/event"
	"eventdeck/store/tables"
)

// ErrUnsure: the store is recovered, and the operator has to decide what becomes of
// subscriptions that are missing in it, or came back although they were removed.
var ErrUnsure = errors.New("the store is recovered, and not all of its subscriptions are as they were")

// unsure is a subscription that is not in the tables that are taken although the file tells of it,
// or is in them although it was removed.
type unsure struct {
	sub  event.Subscription // what is known of it
	kept bool               // it is in the new store, paused
}

// compare looks for subscriptions that the file tells of after the tables were written that are
// taken, those of a snapshot, and keeps each paused as far as it can be read. name is that of the
// snapshot.
func (r *recovery) compare(found, snapshot *salvage, taken map[string]*foundTable, name string) error {
	if found == nil {
		return nil
	}
	audited, _ := snapshot.layout.Tally(tables.Audit)
	r.unsure = map[event.SubID]*unsure{}
	removed := map[event.SubID]bool{}
	for _, n := range slices.Sorted(maps.Keys(found.changes)) {
		if c := found.changes[n]; n > audited.Counter {
			removed[c.Sub] = c.Removed
			r.unsure[c.Sub] = &unsure{sub: event.Subscription{ID: c.Sub, Key: c.Key()}}
		}
	}
	for _, f := range found.log {
		if f.gone || f.seq <= snapshot.last {
			continue
		}
		value, err := found.value(f)
		if err != nil {
			return err
		}
		rec, err := tables.DecodeRecord(f.seq, value)
		if err != nil {
			return err
		}
		if rec.Sub != "" {
			r.unsure[rec.Sub] = &unsure{sub: event.Subscription{ID: rec.Sub, Key: event.Key{Server: rec.Server, Type: rec.Type}, Mode: rec.Mode, LastSeen: rec.ReceivedAt}}
		}
	}
	subs := taken[string(tables.Subs)]
	for _, id := range slices.Sorted(maps.Keys(r.unsure)) {
		u := r.unsure[id]
		there := subs.get([]byte(id))
		if removed[id] == (there == nil) {
			delete(r.unsure, id) // it is as it was
			continue
		}
		words := "is not in %s and cannot be read: subscribe to it again"
		switch resume := "`eventdeck subs resume " + string(id) + "` lets it go on"; {
		case there != nil:
			words = "was removed after %s, and comes back paused: `eventdeck subs rm " + string(id) + "` removes it"
		case found.strays[id] != nil:
			there = found.strays[id]
			words = "is not in %s, and is kept paused, as it was at some time: " + resume
		default:
			var err error
			if there, err = r.withoutArguments(u.sub); err != nil {
				return err
			}
			if there != nil {
				words = "is not in %s, and is kept paused, without a position: " + resume
			}
		}
		if there != nil {
			paused, err := tables.Paused(id, there)
			if err != nil {
				return err
			}
			subs.put([]byte(id), paused)
			u.kept = true
		}
		r.say(fmt.Sprintf("subscription %s, %v of %q, "+words, id, u.sub.Key.Type, u.sub.Key.Server, name))
	}
	return nil
}

// withoutArguments returns the stored form of a subscription of which only the records tell, if its
// id says that it has no arguments; else nil.
func (r *recovery) withoutArguments(sub event.Subscription) ([]byte, error) {
	sub.Key.Args, sub.Created = []byte("{}"), r.now
	if sub.Key.ID() != sub.ID || sub.Mode == "" {
		return nil, nil
	}
	return tables.KeptSub{Sub: sub}.Encode()
}

// put adds an entry, or replaces that of its key.
func (t *foundTable) put(key, value []byte) {
	for i := range t.keys {
		if string(t.keys[i]) == string(key) {
			t.values[i] = value
			return
		}
	}
	t.keys, t.values = append(t.keys, key), append(t.values, value)
}
