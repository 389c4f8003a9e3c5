package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"eventdeck/store/boltfile"
	"eventdeck/store/maintain"
)

// The bounds of a copy, as package boltfile has them.
const (
	copyHead  = 128 << 10
	copySlack = 16 << 20
)

// endless repeats a text without end, and counts the bytes that were read.
type endless struct {
	text []byte
	read int
	then func(read int) // after each read, nil for nothing
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.text[e.read%len(e.text):])
	if e.read += n; e.then != nil {
		e.then(e.read)
	}
	return n, nil
}

// restoreFrom restores from a reader and checks that a failure leaves everything as it was.
func restoreFrom(t *testing.T, ctx context.Context, in io.Reader) error {
	t.Helper()
	dir := makeStore(t)
	was := fingerprint(t, dir)
	_, err := maintain.Restore(ctx, dir, "standard input", in, time.Now(), func(string) {})
	if now := fingerprint(t, dir); err != nil && now != was {
		t.Errorf("changed the store:\n%s\nbefore\n%s", now, was)
	}
	if err := openError(t, dir); err != nil {
		t.Error(err)
	}
	return err
}

// Input that begins like a store and does not end is read as far as such a store can be long,
// and no byte further.
func TestEndlessCopyIsRefused(t *testing.T) {
	good := goodFile(t)
	length := boltfile.ContentLength(good)
	if length < int64(2*os.Getpagesize()) || length > int64(len(good)) {
		t.Fatalf("%d bytes hold content of %d", len(good), length)
	}
	most := 2*length + copySlack
	for _, beyond := range []int64{0, 1, math.MaxInt64 / 2} {
		padding := &endless{text: make([]byte, 1<<16)}
		err := restoreFrom(t, t.Context(), io.MultiReader(bytes.NewReader(good), io.LimitReader(padding, most-int64(len(good))+beyond)))
		if beyond == 0 {
			if err != nil {
				t.Errorf("a copy at its bound: %v", err)
			}
			continue
		}
		says := fmt.Sprintf("standard input: %v: it has more than %d bytes, and its beginning tells of %d; take another copy; the store is as it was", ErrDamaged, most, length)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), says) {
			t.Errorf("%d bytes beyond: %v", beyond, err)
		}
		if got := int64(padding.read + len(good)); got > most+(1<<16) {
			t.Errorf("read %d bytes, at most %d are of use", got, most)
		}
	}
}

// Of input that does not begin like a store only the beginning is read.
func TestOnlyTheBeginningOfAnInvalidCopyIsRead(t *testing.T) {
	for _, text := range []string{"y\n", "\x00"} {
		in := &endless{text: bytes.Repeat([]byte(text), 1<<12)}
		err := restoreFrom(t, t.Context(), in)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "take another copy; the store is as it was") || in.read > copyHead {
			t.Errorf("%q: read %d bytes: %v", text, in.read, err)
		}
	}
}

// A restore that is cancelled while it reads ends, and leaves nothing.
func TestRestoreIsCancelledWhileItReads(t *testing.T) {
	good := goodFile(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("ended by hand")
	in := &endless{text: withLength(good, math.MaxInt64/8), then: func(read int) {
		if read > copyHead+1<<20 {
			cancel(ended)
		}
	}}
	if err := restoreFrom(t, ctx, in); !errors.Is(err, ended) {
		t.Error(err)
	}
}

// Places in a meta page of bbolt.
const (
	metaAt    = 16
	metaCount = metaAt + 40
	metaSum   = metaAt + 56
	metaEnd   = metaSum + 8
)

// withLength returns a store whose first meta page says that it has n bytes.
func withLength(store []byte, n int64) []byte {
	page := bytes.Clone(store)
	binary.NativeEndian.PutUint64(page[metaCount:], uint64(n)/uint64(os.Getpagesize()))
	sum := fnv.New64a()
	_, _ = sum.Write(page[metaAt:metaSum])
	binary.NativeEndian.PutUint64(page[metaSum:], sum.Sum64())
	return page
}

// The length is that of the meta page with the larger one, whatever the page size; an
// impossible length counts as none.
func TestContentLength(t *testing.T) {
	good := goodFile(t)
	if got := boltfile.ContentLength(withLength(good, 1<<40)); got != 1<<40 {
		t.Errorf("got %d", got)
	}
	if got, want := boltfile.ContentLength(withLength(good, math.MaxInt64)), boltfile.ContentLength(good); got > want {
		t.Errorf("got %d, want at most %d", got, want)
	}
	second := make([]byte, copyHead)
	copy(second[64<<10:], withLength(good, 1<<30)[:metaEnd])
	if got := boltfile.ContentLength(second); got != 1<<30 {
		t.Errorf("a second page at 64 KiB: got %d", got)
	}
	for _, none := range [][]byte{nil, make([]byte, metaEnd-1), make([]byte, copyHead)} {
		if got := boltfile.ContentLength(none); got != 0 {
			t.Errorf("%d zeros: got %d", len(none), got)
		}
	}
}
