package attach_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/attach"
	"eventdeck/host/event"
)

// link forwards the socket of a directory to that of another one, as ssh -L does.
type link struct {
	t        *testing.T
	from, to string
	cut      func()
}

// newLink returns a link to an owner, and the directory at its near end.
func newLink(t *testing.T, to string) *link {
	l := &link{t: t, from: t.TempDir(), to: to}
	if err := os.WriteFile(filepath.Join(l.from, "attach.token"), []byte(token(t, to)), 0o600); err != nil {
		t.Fatal(err)
	}
	l.open()
	t.Cleanup(func() { l.cut() })
	return l
}

func (l *link) open() {
	l.t.Helper()
	_ = os.Remove(attach.SocketOf(l.from)) // none is left by the first
	near, err := net.ListenUnix("unix", &net.UnixAddr{Name: attach.SocketOf(l.from), Net: "unix"})
	if err != nil {
		l.t.Fatal(err)
	}
	near.SetUnlinkOnClose(false)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := near.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", attach.SocketOf(l.to))
			if err != nil {
				_ = conn.Close() // as ssh does
				continue
			}
			close := context.AfterFunc(ctx, func() { _, _ = conn.Close(), far.Close() })
			for _, pair := range [][2]net.Conn{{conn, far}, {far, conn}} {
				wg.Go(func() {
					_, _ = io.Copy(pair[0], pair[1]) // until one of them is closed
					_, _ = pair[0].Close(), pair[1].Close()
					close()
				})
			}
		}
	})
	l.cut = func() {
		_ = near.Close() // a second time it fails
		cancel()
		wg.Wait()
	}
}

// A client whose connection is cut shows what it has as old, and continues where it was once the
// connection is there again, also with an owner that was started again meanwhile.
func TestAClientOutlivesItsLink(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	f.events("aa", 0, 10)
	l := newLink(t, f.dir)
	c, err := untilAnswered(func() (*attach.Client, error) { return attach.Follow(t.Context(), l.from) })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	before := c.Snapshot().Version
	l.cut()
	await(t, c, "silence", func() bool { return errors.Is(c.Snapshot().Store.Err, event.ErrSilent) })
	if _, err := c.Store().Subscription("aa"); !errors.Is(err, event.ErrSilent) {
		t.Errorf("a request meanwhile: %v", err)
	}
	if err := c.SetSetting(t.Context(), "a", "b"); !errors.Is(err, event.ErrSilent) {
		t.Errorf("a change meanwhile: %v", err)
	}
	f.events("aa", 100, 10)
	l.open()
	await(t, c, "the new records", func() bool { return c.Snapshot().Store.Err == nil && c.Log().Last() == f.store.Last() })
	silent := c.Snapshot().Version

	f.end()
	await(t, c, "silence", func() bool { return errors.Is(c.Snapshot().Store.Err, event.ErrSilent) })
	g := serve(t, f.dir, attach.Options{})
	if err := os.WriteFile(filepath.Join(l.from, "attach.token"), []byte(token(t, f.dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	g.events("aa", 200, 10)
	await(t, c, "the records of the owner that was started again", func() bool { return c.Snapshot().Store.Err == nil && c.Log().Last() == g.store.Last() })
	if after := c.Snapshot().Version; silent <= before || after <= silent {
		t.Errorf("versions %d, %d, %d must grow", before, silent, after)
	}
}

// Where another store answers at the socket, the client ends: what it would show is not what it was
// attached to.
func TestAClientIsOfOneStore(t *testing.T) {
	f, other := newOwner(t, t.TempDir(), nil), newOwner(t, t.TempDir(), nil)
	for _, o := range []*owner{f, other} {
		o.events("aa", 0, 10)
	}
	l := newLink(t, f.dir)
	c, err := untilAnswered(func() (*attach.Client, error) { return attach.Attach(t.Context(), l.from) })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l.cut()
	l.to = other.dir
	if err := os.WriteFile(filepath.Join(l.from, "attach.token"), []byte(token(t, l.to)), 0o600); err != nil {
		t.Fatal(err)
	}
	l.open()
	select {
	case <-c.Done():
		if !errors.Is(c.Err(), attach.ErrGone) || !strings.Contains(c.Err().Error(), "another store") {
			t.Error(c.Err())
		}
	case <-time.After(patience):
		t.Fatal("it still shows the other store")
	}
}

// States that were asked for at the same time come in any order: one with a lower position is of the
// same store.
func TestStatesInAnyOrderAreOfOneStore(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	c := f.client()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				if err := c.SetMark(t.Context(), event.Mark{Seq: uint64(i + 1), Line: true}); errors.Is(err, attach.ErrGone) {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 200 {
		f.events("aa", 1000*i, 1)
	}
	wg.Wait()
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

func TestElsewhere(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	if attach.Elsewhere(f.dir) || attach.Elsewhere("") || attach.Elsewhere(t.TempDir()) {
		t.Error("a store that is here, or none at all, is elsewhere")
	}
	if !attach.Elsewhere(newLink(t, f.dir).from) {
		t.Error("the store of another directory is here")
	}
}
