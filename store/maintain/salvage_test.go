package maintain

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/seal"
	"eventdeck/store/storetest"
	"eventdeck/store/tables"
)

// Reading pages ends and finds only records, whatever the pages hold.
func FuzzReadPages(f *testing.F) {
	dir := f.TempDir()
	s, err := store.Open(f.Context(), store.Options{Dir: dir, Keyring: seal.NoKeyring()})
	if err != nil {
		f.Fatal(err)
	}
	storetest.Fill(f, s, 3, func(i int) event.Record {
		raw := fmt.Appendf(nil, "{%q:%d}", "n", i)
		return event.Record{Kind: event.KindEvent, Server: "pager", Raw: raw, EventID: trust.Untrusted(fmt.Sprint(i))}
	})
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, datadir.DB))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content, uint32(0), byte(0))
	f.Add(content, uint32(3*os.Getpagesize()+10), byte(0xff))
	f.Fuzz(func(t *testing.T, content []byte, at uint32, flip byte) {
		if len(content) > 0 {
			content = bytes.Clone(content)
			content[int(at)%len(content)] ^= flip
		}
		path := filepath.Join(t.TempDir(), "pages")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := readSalvage(t.Context(), path)
		if errors.Is(err, boltfile.ErrNewer) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer found.close()
		before := uint64(0)
		for _, f := range found.log {
			value, err := found.value(f)
			if err == nil {
				_, err = tables.DecodeRecord(f.seq, value)
			}
			if err != nil || f.seq <= before {
				t.Errorf("record %d after %d: %v", f.seq, before, err)
			}
			before = f.seq
		}
	})
}
