package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/datadir"
	"eventdeck/store/seal"
)

const killDirEnv = "EVENTDECK_STORE_KILL_DIR"

// writeUntilKilled is the child of TestKill: it stores events without end and prints the id of
// each one after it was acknowledged. Ids continue from those in the store, and each is
// submitted twice.
func writeUntilKilled(dir string) {
	s, err := Open(context.Background(), Options{Dir: dir, Keyring: seal.NoKeyring()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for n := s.Last() + 1; ; n++ {
		id := fmt.Sprint(n)
		for range 2 {
			b := eventsBatch("aa", id)
			cursor := event.At(text(id))
			b.Cursor = &cursor
			b.Update = func(*event.Subscription) {}
			b.Done = func(_ event.Outcome, err error) {
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				os.Stdout.WriteString(id + "\n")
			}
			if err := s.Submit(context.Background(), b); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
}

// TestKill kills a writing process many times at random moments, and checks after each kill
// that the file is sound, every acknowledged event is stored exactly once, and the cursor is
// that of the last one.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		acked := killOnce(t, dir)
		checkFile(t, filepath.Join(dir, datadir.DB))

		s := openTest(t, Options{Dir: dir})
		equal(t, len(s.Generations()), 1)
		next := 1
		for _, id := range ids(t, s) {
			if id != fmt.Sprint(next) {
				t.Fatalf("%s stands in the place of %d", id, next)
			}
			next++
		}
		if next <= acked {
			t.Fatalf("%d was acknowledged, and %d is the last one", acked, next-1)
		}
		if sub, err := s.Subscription("aa"); next > 1 && (err != nil || sub.Cursor != event.At(text(fmt.Sprint(next-1)))) {
			t.Fatalf("the cursor is %+v after event %d: %v", sub.Cursor, next-1, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killOnce runs the child, kills it some time after it began to acknowledge, and
// returns the last id that it acknowledged.
func killOnce(t *testing.T, dir string) (acked int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killDirEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var kill *time.Timer
	for lines.Scan() {
		if kill == nil {
			kill = time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
		if _, err := fmt.Sscan(lines.Text(), &acked); err != nil {
			t.Fatal(err)
		}
	}
	if kill == nil {
		t.Fatal("the child acknowledged nothing")
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	return acked
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
