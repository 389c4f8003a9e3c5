//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// small makes the world's data directory a file system of its own, and leaves just enough room
// for a store to begin. makeRoom adds room.
func (w *world) small() (makeRoom func()) {
	w.t.Helper()
	if err := os.Mkdir(w.data(), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", w.data(), "tmpfs", 0, "size=6m,mode=0700"); err != nil {
		w.t.Skip("no small file system: ", err)
	}
	w.t.Cleanup(func() {
		if err := syscall.Unmount(w.data(), syscall.MNT_DETACH); err != nil {
			w.t.Error(err)
		}
	})
	ballast := filepath.Join(w.data(), "ballast")
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return func() { // for good: a server that replays fills a few MiB between two looks
		w.t.Helper()
		if err := syscall.Mount("", w.data(), "", syscall.MS_REMOUNT, "size=1g,mode=0700"); err != nil {
			w.t.Fatal(err)
		}
		if err := os.Remove(ballast); err != nil {
			w.t.Fatal(err)
		}
	}
}

// noHole checks that every number was kept, in order and once, from the first one on.
func noHole(t *testing.T, records []record) {
	t.Helper()
	next := 0
	for _, r := range records {
		switch {
		case r.Kind == "gap":
			t.Errorf("gap %d: %s", r.Seq, r.Cause)
		case r.Kind != "event":
		case next == 0:
			next = r.n(t) + 1
		case r.n(t) != next:
			t.Fatalf("event %d where %d is due", r.n(t), next)
		default:
			next++
		}
	}
}

// On a full disk tail says so, waits, and goes on without a hole when there is room.
func TestTailOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "2000")
	makeRoom := w.small()
	p := w.start(nil, "tail", url, "load.tick", "--json", "--data", w.data())
	p.await(p.stderr, 1, contains("nothing can be kept in "+w.data(), "goes on when there is room"))
	before := len(decode(t, p.stdout.text()))
	makeRoom()
	p.await(p.stdout, before+200, isEvent)
	p.signal(os.Interrupt)
	if code := p.wait(); code != 0 {
		t.Errorf("it ends with %d: %s", code, p.stderr.text())
	}
	noHole(t, decode(t, p.stdout.text()))
	noHole(t, w.stored())
}

// The screen says so too, and no longer when there is room again.
func TestScreenOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "2000")
	makeRoom := w.small()
	filling := w.start(nil, "tail", url, "load.tick", "--json", "--data", w.data())
	filling.await(filling.stderr, 1, contains("nothing can be kept"))
	c := w.terminal(140, 40, url, "--data", w.data())
	c.reads("disk full: nothing is acknowledged until there is room")
	makeRoom()
	c.sees("it stores again", func(s string) bool { return strings.Contains(s, "1 push") && !strings.Contains(s, "disk full") })
	c.keys("q")
	c.endsWell()
	filling.signal(os.Interrupt)
	if code := filling.wait(); code != 0 {
		t.Errorf("it ends with %d: %s", code, filling.stderr.text())
	}
}

// The next program removes the temporary files that a killed one left.
func TestTemporaryStoreOfAKilledProgram(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "50")
	p := w.start(nil, "tail", url, "load.tick", "--json")
	p.await(p.stdout, 1, isEvent)
	p.kill()
	if left, err := os.ReadDir(w.temp()); err != nil || len(left) != 1 {
		t.Fatal(left, err)
	}
	if code := w.start(nil, "tail", url, "load.tick", "--json", "--count", "1").wait(); code != 0 {
		t.Fatal(code)
	}
	if left, err := os.ReadDir(w.temp()); err != nil || len(left) != 0 {
		t.Error(left, err)
	}
}
