package datadir

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"time"

	"eventdeck/store/private"
)

// Seen is what the witness of a store has seen of it.
type Seen struct {
	Generation string // 32 hexadecimal digits
	Last       uint64 // number of the newest record
	Audited    uint64 // and of the newest entry of the audit log
}

// Witness is the file beside a database by which an older database in its place, or another one,
// is noticed. That it exists says that there was a database. One goroutine uses it.
type Witness struct {
	f      *os.File
	synced time.Time
}

// OpenWitness opens the witness of the store in dir, and makes it if none exists: one that
// has seen nothing.
//
// Errors: those of [private.Open].
func OpenWitness(dir string) (*Witness, error) {
	f, err := private.Open(filepath.Join(dir, WitnessFile), os.O_CREATE|os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &Witness{f: f}, nil
}

// Read returns what it has seen; ok is false for nothing, or nothing that can be read.
//
// Errors: those of the file system.
func (w *Witness) Read() (s Seen, ok bool, err error) {
	content, err := io.ReadAll(io.NewSectionReader(w.f, 0, 1<<10))
	if err != nil {
		return s, false, err
	}
	if _, err := fmt.Sscanf(string(content), "%32s %d %d", &s.Generation, &s.Last, &s.Audited); err != nil {
		return Seen{}, false, nil
	}
	return s, string(content) == s.line(), nil
}

// line is the content of the file. Its length is always the same, so that it needs no further
// room and is written at once.
func (s Seen) line() string {
	text := fmt.Sprintf("%s %020d %020d", s.Generation, s.Last, s.Audited)
	return fmt.Sprintf("%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// Write notes what is seen. It is safe from the end of the process at once, and from that of the
// system within a second of notes that follow each other. What cannot be written is forgotten: a
// store whose witness knows nothing counts as another one, which no error could say better.
func (w *Witness) Write(s Seen) {
	_, err := w.f.WriteAt([]byte(s.line()), 0)
	if now := time.Now(); err == nil && now.Sub(w.synced) >= time.Second {
		err, w.synced = w.f.Sync(), now
	}
	if err != nil {
		_ = w.Forget()
	}
}

// Forget makes it a witness that has seen nothing.
//
// Errors: those of the file system.
func (w *Witness) Forget() error { return errors.Join(w.f.Truncate(0), w.f.Sync()) }

// Close writes what is not on the disk yet.
//
// Errors: those of the file system.
func (w *Witness) Close() error { return errors.Join(w.f.Sync(), w.f.Close()) }

// ForgetSeen is [Witness.Forget] for the store in dir, which no process has open: the next open
// takes it for another one. No witness is made.
//
// Errors: those of [private.Open] and of the file system.
func ForgetSeen(dir string) error {
	f, err := private.Open(filepath.Join(dir, WitnessFile), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	w := &Witness{f: f}
	return errors.Join(w.Forget(), w.Close())
}
