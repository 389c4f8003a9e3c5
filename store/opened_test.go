package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/seal"
	"eventdeck/store/tables"
)

func TestDamageIsFoundWhenAStoreIsOpened(t *testing.T) {
	for name, how := range map[string]func(*boltfile.Tx) error{
		"the newest record, 10": func(tx *boltfile.Tx) error { return tx.Bucket(tables.Events).Put(tables.SeqKey(10), []byte("?")) },
		"newer than the last number": func(tx *boltfile.Tx) error {
			b := tx.Bucket(tables.Events)
			value, err := b.Get(tables.SeqKey(10))
			if err != nil {
				return err
			}
			return b.Put(tables.SeqKey(99), value)
		},
		"has the key": func(tx *boltfile.Tx) error { return tx.Bucket(tables.Events).Put([]byte("\xff\xff"), []byte("x")) },
	} {
		dir := fillStore(t, 5)
		putMeta(t, dir, func(tx *boltfile.Tx) error {
			if err := tx.Bucket(tables.Events).SetCounter(10); err != nil {
				return err
			}
			return how(tx)
		})
		s, err := Open(t.Context(), Options{Dir: dir, Keyring: seal.NoKeyring()})
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "eventdeck store recover") {
			t.Errorf("%s: %v", name, err)
		}
		if s != nil {
			t.Error("and it was opened: ", s.Close())
		}
	}
}

// The check at each start does not read the log, so it is much faster than a full check.
func TestQuickCheckIsQuick(t *testing.T) {
	s := openTest(t, Options{Dir: fillStore(t, 1000)})
	best := func(what func(*boltfile.Tx) error) time.Duration {
		took := time.Hour
		for range 20 { // the best of some: the machine may be busy
			began := time.Now()
			if err := s.view(what); err != nil {
				t.Fatal(err)
			}
			took = min(took, time.Since(began))
		}
		return took
	}
	quick := best(tables.QuickCheck)
	all := best(func(tx *boltfile.Tx) error {
		return tx.Verify(t.Context(), func(err error) { t.Error(err) })
	})
	if quick > all/5 {
		t.Errorf("it takes %v, and %v to read everything", quick, all)
	}
}

func TestBackupOfAStoreInUse(t *testing.T) {
	s := openTest(t, Options{})
	store(t, s, eventsBatch("aa", "1", "2"))
	dir := t.TempDir()
	file := filepath.Join(dir, datadir.DB)
	n, err := s.Backup(t.Context(), file)
	if info, statErr := os.Stat(file); err != nil || statErr != nil || n != info.Size() || n == 0 {
		t.Fatal(n, err, statErr)
	}
	if _, err := s.Backup(t.Context(), file); err == nil {
		t.Error("the copy was overwritten")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Backup(ended, filepath.Join(dir, "late")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "late")); err == nil {
		t.Error("a copy that was given up is there")
	}
	store(t, s, eventsBatch("aa", "3"))
	copied := openTest(t, Options{Dir: dir})
	equal(t, ids(t, copied), []string{"1", "2"})
}
