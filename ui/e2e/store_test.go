package e2e

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A damaged store is told in a process of its own, and recovered, whatever its
// pages do to them.
func TestDamagedStoreIsRecovered(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "2000")
	if code := w.start(nil, "tail", url, "load.tick", "--count", "400", "--json", "--data", w.data()).wait(); code != 0 {
		t.Fatal("tail ended with", code)
	}
	// The second run makes a snapshot of the subscription, from which the store can be
	// recovered whatever happens to the file.
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

// A copy is checked before it takes the place of the store, in a process of its own:
// whatever its pages do to that, the store is as it was.
func TestOnlySoundCopiesAreRestored(t *testing.T) {
	w := newWorld(t)
	good, content := w.backup("-good.db", 400)
	garbled := bytes.Clone(content)
	for at := 2 * os.Getpagesize(); at < len(garbled); at += 7 {
		garbled[at] ^= 0x5a
	}
	for name, bad := range map[string][]byte{"cut": content[:len(content)/2], "garbled": garbled, "empty": nil, "text": []byte("no store\n")} {
		file := filepath.Join(w.dir, name+".db")
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		restore := w.start(nil, "store", "restore", file, "--data", w.data())
		if code, says := restore.wait(), restore.stderr.text(); code != 1 || !strings.Contains(says, file) || !strings.HasSuffix(says, "the store is as it was") || strings.Contains(says, "\n") {
			t.Errorf("%s: %d: %s", name, code, says)
		}
	}
	if check := w.start(nil, "store", "check", "--data", w.data()); check.wait() != 0 {
		t.Errorf("the store after that: %s", check.stderr.text())
	}
	restore := w.start(nil, "store", "restore", "--data", w.data(), "--", good)
	if code := restore.wait(); code != 0 {
		t.Errorf("a sound copy: %d: %s", code, restore.stderr.text())
	}
}

// A pipe that does not end is not read for ever: the command says what it met, and the
// store is as it was.
func TestEndlessCopyFromAPipeIsRefused(t *testing.T) {
	w := newWorld(t)
	_, content := w.backup("copy.db", 10)
	for name, c := range map[string]struct {
		first []byte
		says  string
	}{"a copy goes on": {content, "bytes, and its beginning tells of"}, "no copy": {[]byte("y\n"), "the store is damaged"}} {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p := w.startOn(out, nil, newLines().read, "store", "restore", "-", "--data", w.data())
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		broken := make(chan error, 1)
		go func() {
			_, err := in.Write(c.first)
			for more := make([]byte, 1<<16); err == nil; { // until the reader is gone
				_, err = in.Write(more)
			}
			broken <- in.Close()
		}()
		if code, says := p.wait(), p.stderr.text(); code != 1 || !strings.Contains(says, "standard input: ") || !strings.Contains(says, c.says) || !strings.Contains(says, "the store is as it was") {
			t.Errorf("%s: %d: %s", name, code, says)
		}
		if err := <-broken; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if check := w.start(nil, "store", "check", "--data", w.data()); check.wait() != 0 {
		t.Errorf("the store after that: %s", check.stderr.text())
	}
}

// What comes through a pipe is checked like a file: the whole copy takes the place of the
// store, one whose writer ended early changes nothing.
func TestCopyIsRestoredFromAPipe(t *testing.T) {
	w := newWorld(t)
	_, content := w.backup("copy.db", 400)
	restore := func(dir string, content []byte) (code int, says string) {
		t.Helper()
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p := w.startOn(out, nil, newLines().read, "store", "restore", "-", "--data", dir)
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = in.Write(content)
		if err := errors.Join(err, in.Close()); err != nil {
			t.Error(err)
		}
		return p.wait(), p.stderr.text()
	}
	for name, bad := range map[string][]byte{"cut": content[:len(content)/2], "empty": nil} {
		if code, says := restore(w.data(), bad); code != 1 || !strings.Contains(says, "standard input") || !strings.Contains(says, "the store is as it was") {
			t.Errorf("%s: %d: %s", name, code, says)
		}
	}
	fresh := filepath.Join(w.dir, "fresh")
	if code, says := restore(fresh, content); code != 0 {
		t.Fatalf("a whole copy: %d: %s", code, says)
	}
	events := func(dir string) string {
		p := w.start(nil, "events", "--json", "--data", dir)
		if code := p.wait(); code != 0 {
			t.Fatalf("events ended with %d: %s", code, p.stderr.text())
		}
		return p.stdout.text()
	}
	if want, got := events(w.data()), events(fresh); got != want || !strings.Contains(want, `"kind":"event"`) {
		t.Errorf("%d bytes of events were restored of %d", len(got), len(want))
	}
}

// backup stores that many events, and returns a copy of the store in a file of the given name,
// with its content.
func (w *world) backup(name string, events int) (file string, content []byte) {
	w.t.Helper()
	_, url := w.pager("--rate", "2000")
	if code := w.start(nil, "tail", url, "load.tick", "--count", strconv.Itoa(events), "--json", "--data", w.data()).wait(); code != 0 {
		w.t.Fatal("tail ended with", code)
	}
	file = filepath.Join(w.dir, name)
	if code := w.start(nil, "store", "backup", "--data", w.data(), "--", file).wait(); code != 0 {
		w.t.Fatal("backup ended with", code)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	return file, content
}
