package store

import (
	"fmt"
	"path/filepath"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/tables"
)

// Why the journal of a store may lack acts.
const (
	wordsCopied = "the store is a copy of another one, or was moved here from another file system"
	wordsOther  = "the store is an older copy, or another one, than was open here last"
)

// generations are those of the store, and what is needed to begin the next one. The writer alone
// uses it once the store is open, but for all, which does not change.
type generations struct {
	all     event.Generations
	begins  bool             // the newest is to be stored with the first record
	witness *datadir.Witness // nil for a temporary store
}

// Generations implements [event.Store].
func (s *Store) Generations() event.Generations { return s.generations.all }

// findGeneration looks whether the database is the one that was open here last. If it is not, or
// may be another one, its journal notes that it may lack acts, and a new generation begins with
// the next record. It writes nothing if nothing has changed.
func (s *Store) findGeneration(o Options, isNew bool) error {
	var have datadir.Seen
	g := &s.generations
	err := boltfile.View(s.db, func(tx *boltfile.Tx) (err error) {
		have.Last, have.Audited = tx.Bucket(tables.Events).Counter(), tx.Bucket(tables.Audit).Counter()
		g.all, err = tables.LoadGenerations(tx)
		have.Generation = g.all.Of(have.Last + 1)
		return err
	})
	if err != nil || s.temporary {
		return err
	}
	if g.witness, err = datadir.OpenWitness(s.dir); err != nil {
		return err
	}
	seen, known, err := g.witness.Read()
	if err != nil {
		return err
	}
	other := known && (seen.Generation != have.Generation || seen.Last > have.Last || seen.Audited > have.Audited)
	copied, err := s.noteFileID(other)
	if err != nil {
		return err
	}
	if other || copied { // until a generation has begun, the next open knows as well
		if err := g.witness.Forget(); err != nil {
			return err
		}
	}
	if isNew || known && !other && !copied && !(o.Imports && have.Last > 0) {
		if seen != have {
			g.witness.Write(have)
		}
		return nil
	}
	id, err := tables.NewGeneration(o.Random)
	g.all, g.begins = g.all.Next(id, have.Last), true
	return err
}

// noteFileID stores the id of the database file. If another id is stored, this file is a copy
// whose original may have gone on; a copy, and another database than before, gets the note that
// its journal may lack acts. It writes nothing if nothing has changed.
func (s *Store) noteFileID(other bool) (copied bool, err error) {
	now := datadir.FileID(filepath.Join(s.dir, datadir.DB))
	was, err := tables.StoredFileID(s.db)
	if err != nil || was == now && !other {
		return false, err
	}
	// Ids of different kinds ("at", "made") say nothing: the file system has changed.
	copied = was != "" && was != now && was[0] == now[0]
	err = boltfile.Update(s.db, func(tx *boltfile.Tx) error {
		if copied || other {
			told, err := tx.Bucket([]byte(event.TableReact)).Get([]byte(event.KeyLag))
			if err != nil {
				return err
			}
			why := wordsOther
			if copied {
				why = wordsCopied
			}
			if told == nil {
				if err := tables.PutLag(tx, why); err != nil {
					return err
				}
			}
		}
		return tables.PutFileID(tx, now)
	})
	if err != nil && !copied && !other && boltfile.IsNoSpace(err) {
		return false, nil // a store on a full disk can be read
	}
	if err != nil {
		return false, fmt.Errorf("note that it is another file than before: %w", err)
	}
	return copied, nil
}

// beginGeneration stores the newest generation with its first record. The witness hears of it
// before the commit: otherwise a process that dies in between would leave a database that its
// witness takes for another one.
func (c *commit) beginGeneration(before uint64) error {
	g := &c.store.generations
	if !g.begins {
		return nil
	}
	c.begins = true
	g.note(datadir.Seen{Generation: g.all.Of(before + 1), Last: before, Audited: c.store.audited.Load()})
	return tables.PutGenerations(c.tx, g.all)
}

// witness notes what a commit has stored, before anybody can see a number of it.
func (c *commit) witness() {
	g := &c.store.generations
	if g.begins = g.begins && !c.begins; g.begins || len(c.stored) == 0 && c.audited == 0 {
		return
	}
	g.note(datadir.Seen{Generation: g.all.Of(c.last + 1), Last: c.last, Audited: max(c.audited, c.store.audited.Load())})
}

// note writes the witness, if there is one.
func (g *generations) note(seen datadir.Seen) {
	if g.witness != nil {
		g.witness.Write(seen)
	}
}
