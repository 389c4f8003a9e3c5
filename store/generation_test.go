package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/datadir"
	"eventdeck/store/maintain"
)

// generation is a store whose records are in one generation, of which a client may hold
// every number; a copy has the first four of them.
type generation struct {
	dir, copy string
	id        string
	last      uint64
}

func newGenerationWorld(t *testing.T) generation {
	t.Helper()
	g := generation{dir: t.TempDir(), copy: filepath.Join(t.TempDir(), "copy.db")}
	s := openTest(t, Options{Dir: g.dir})
	store(t, s, eventsBatch("aa", "1", "2", "3", "4"))
	_, err := s.Backup(t.Context(), g.copy)
	mustDo(t, err)
	store(t, s, eventsBatch("aa", "5", "6", "7"))
	g.id, g.last = s.Generations().Of(s.Last()), s.Last()
	mustDo(t, s.Close())
	return g
}

// goesOn opens the store, stores a record, and returns the generations and the number of the
// record. The store is opened once more before and after: that changes nothing.
func (g generation) goesOn(t *testing.T, o Options) (event.Generations, uint64) {
	t.Helper()
	o.Dir = g.dir
	mustDo(t, openTest(t, Options{Dir: g.dir, Imports: o.Imports}).Close())
	s := openTest(t, o)
	got := s.Generations()
	out := store(t, s, eventsBatch("aa", fmt.Sprint("new", time.Now().UnixNano())))
	mustDo(t, s.Close())
	s = openTest(t, Options{Dir: g.dir})
	equal(t, s.Generations(), got)
	mustDo(t, s.Close())
	return got, out.Last
}

// into writes a file over the database, in place as cp does.
func (g generation) into(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	mustDo(t, err)
	mustDo(t, os.WriteFile(filepath.Join(g.dir, datadir.DB), content, 0o600))
}

// A database that is not the one that was open here last, or that may not be, begins a new
// generation: numbers of the one before are known as far as they mean the same. What is the same
// database continues in its generation.
func TestAnotherDatabaseBeginsAGeneration(t *testing.T) {
	quiet := func(string) {}
	restore := func(t *testing.T, g generation) {
		_, err := maintain.Restore(t.Context(), g.dir, g.copy, nil, time.Now(), quiet)
		mustDo(t, err)
	}
	for name, tt := range map[string]struct {
		change func(*testing.T, generation)
		last   uint64 // of the generation before; 0: it continues
		o      Options
	}{
		"opened again": {func(*testing.T, generation) {}, 0, Options{}},
		"compacted": {func(t *testing.T, g generation) {
			_, _, err := maintain.Compact(g.dir)
			mustDo(t, err)
		}, 0, Options{}},
		"restored": {restore, 4, Options{}},
		"recovered": {func(t *testing.T, g generation) {
			mustDo(t, maintain.Recover(t.Context(), g.dir, time.Now(), quiet))
		}, 7, Options{}},
		"imported into":          {func(*testing.T, generation) {}, 7, Options{Imports: true}},
		"an older copy in place": {func(t *testing.T, g generation) { g.into(t, g.copy) }, 4, Options{}},
		"renamed into place":     {func(t *testing.T, g generation) { mustDo(t, os.Rename(g.copy, filepath.Join(g.dir, datadir.DB))) }, 4, Options{}},
		"alone":                  {func(t *testing.T, g generation) { mustDo(t, os.Remove(filepath.Join(g.dir, datadir.WitnessFile))) }, 7, Options{}},
		"beside another's witness": {func(t *testing.T, g generation) {
			other := newGenerationWorld(t)
			content, err := os.ReadFile(filepath.Join(other.dir, datadir.WitnessFile))
			mustDo(t, err)
			mustDo(t, os.WriteFile(filepath.Join(g.dir, datadir.WitnessFile), content, 0o600))
		}, 7, Options{}},
		"with a witness that cannot be read": {func(t *testing.T, g generation) {
			mustDo(t, os.WriteFile(filepath.Join(g.dir, datadir.WitnessFile), []byte("x"), 0o600))
		}, 7, Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGenerationWorld(t)
			tt.change(t, g)
			got, seq := g.goesOn(t, tt.o)
			if tt.last == 0 {
				equal(t, len(got), 1)
				equal(t, got.Of(seq), g.id)
				return
			}
			last := len(got) - 1
			if got[last-1].Last != tt.last || got.Of(tt.last) != g.id || got.Of(seq) == g.id {
				t.Errorf("record %d follows %d in %v", seq, tt.last, got)
			}
			if got.Has(g.id, tt.last+1, 1<<40) || !got.Has(g.id, tt.last, seq) {
				t.Errorf("it knows other numbers than those up to %d", tt.last)
			}
		})
	}
}

// A whole directory that is copied is a copy: its numbers are known up to where it was copied.
func TestACopiedDirectoryBeginsAGeneration(t *testing.T) {
	g := newGenerationWorld(t)
	there := filepath.Join(t.TempDir(), "copy")
	mustDo(t, os.CopyFS(there, os.DirFS(g.dir)))
	makePrivate(t, there)
	was := g.id
	g.dir = there
	got, seq := g.goesOn(t, Options{})
	if got.Of(g.last) != was || got.Of(seq) == was {
		t.Errorf("record %d is in %v", seq, got)
	}
}

// Two stores that are restored from one copy count in different generations.
func TestRestoredTwiceFromOneCopy(t *testing.T) {
	g := newGenerationWorld(t)
	var ids []string
	for range 2 {
		_, err := maintain.Restore(t.Context(), g.dir, g.copy, nil, time.Now(), func(string) {})
		mustDo(t, err)
		got, seq := g.goesOn(t, Options{})
		ids = append(ids, got.Of(seq))
		if len(ids) > 1 && got.Knows(ids[0]) {
			t.Errorf("it knows a generation that it lost: %v", got)
		}
	}
	if ids[0] == ids[1] {
		t.Error("both are one generation")
	}
}

// A process that dies between a commit and the witness leaves the same store; one that dies before
// the commit that begins a generation leaves another one, as before.
func TestCrashBesideTheWitnessIsNoOtherStore(t *testing.T) {
	g := newGenerationWorld(t)
	witness := filepath.Join(g.dir, datadir.WitnessFile)
	before, err := os.ReadFile(witness)
	mustDo(t, err)
	g.goesOn(t, Options{})
	mustDo(t, os.WriteFile(witness, before, 0o600))
	got, seq := g.goesOn(t, Options{})
	equal(t, got.Of(seq), g.id)

	for _, committed := range []bool{false, true} {
		g := newGenerationWorld(t)
		g.into(t, g.copy)
		dies := errors.New("the process dies")
		var left []byte // what the witness says when the process dies
		hooks := Hooks{FailBefore: func() error {
			left, err = os.ReadFile(witness)
			mustDo(t, err)
			if committed {
				return nil
			}
			return dies
		}}
		witness = filepath.Join(g.dir, datadir.WitnessFile)
		s := openTest(t, Options{Dir: g.dir, Hooks: hooks})
		id := s.Generations().Of(5)
		<-submit(t, s, eventsBatch("aa", "x"))
		mustDo(t, s.Close())
		mustDo(t, os.WriteFile(witness, left, 0o600))
		got, seq := g.goesOn(t, Options{})
		if got.Of(4) != g.id || got.Of(seq) == g.id || committed != (got.Of(seq) == id) {
			t.Errorf("committed %v: record %d is in %v", committed, seq, got)
		}
	}
}

// The reactions of an older copy that was put in place are held, as after a restore, and only
// until the operator lets them go on.
func TestReactionsOfAnOlderCopyInPlaceAreHeld(t *testing.T) {
	g := newGenerationWorld(t)
	equal(t, lagOf(t, g.dir), "")
	g.into(t, g.copy)
	equal(t, lagOf(t, g.dir), wordsOther)
	goOn(t, g.dir)
	equal(t, lagOf(t, g.dir), "")
	g.goesOn(t, Options{})
	equal(t, lagOf(t, g.dir), "")

	// Acts are noted in the audit log: a copy that lacks some is older although it has every record.
	s := openTest(t, Options{Dir: g.dir})
	_, err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "no acts.db"))
	mustDo(t, err)
	copied := filepath.Join(t.TempDir(), "acts.db")
	_, err = s.Backup(t.Context(), copied)
	mustDo(t, err)
	mustDo(t, s.Audit(t.Context(), event.AuditEntry{At: newEvent("").ReceivedAt, Actor: event.ActorHost, Action: "run", Result: event.ResultOK}))
	mustDo(t, s.Close())
	g.into(t, copied)
	equal(t, lagOf(t, g.dir), wordsOther)
}

// A store that was emptied by the operator, to begin with nothing, begins with a generation.
func TestNewStoresHaveDifferentGenerations(t *testing.T) {
	one, two := openTest(t, Options{}), openTest(t, Options{Temporary: true})
	if a, b := one.Generations(), two.Generations(); len(a) != 1 || len(b) != 1 || a.Of(0) == b.Of(0) || len(a.Of(1)) != 32 {
		t.Errorf("%v and %v", a, b)
	}
}
