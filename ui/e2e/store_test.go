package e2e

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// A damaged store is told and recovered in processes of their own, whatever its
// pages do to them.
func TestDamagedStoreIsRecovered(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "2000")
	if code := w.start(nil, "tail", url, "load.tick", "--count", "400", "--json", "--data", w.data()).wait(); code != 0 {
		t.Fatal("tail ended with", code)
	}
	// The second run makes a snapshot of the subscription: whatever becomes of the file,
	// there is something to begin again with.
	if code := w.start(nil, "tail", url, "load.tick", "--count", "1", "--json", "--data", w.data(), "--from", "saved").wait(); code != 0 {
		t.Fatal("the second tail ended with", code)
	}
	if found, err := filepath.Glob(filepath.Join(w.data(), "snapshot-*.db")); err != nil || len(found) != 1 {
		t.Fatalf("snapshots: %v, %v", found, err)
	}
	file := filepath.Join(w.data(), "state.db")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		content[2*os.Getpagesize()+random.IntN(len(content)-2*os.Getpagesize())] ^= byte(1 + random.IntN(255))
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}

	check := w.start(nil, "store", "check", "--data", w.data())
	if code := check.wait(); code != 1 {
		t.Errorf("the check of a damaged store ends with %d", code)
	}
	recovered := w.start(nil, "store", "recover", "--data", w.data())
	if code := recovered.wait(); code != 0 {
		t.Fatalf("recover ends with %d: %s", code, recovered.stderr.text())
	}
	check = w.start(nil, "store", "check", "--data", w.data())
	if code := check.wait(); code != 0 {
		t.Errorf("the check of a recovered store ends with %d: %s", code, check.stderr.text())
	}
	if code := w.start(nil, "tail", url, "load.tick", "--count", "1", "--json", "--data", w.data(), "--from", "saved").wait(); code != 0 {
		t.Error("tail on a recovered store ends with", code)
	}
}
