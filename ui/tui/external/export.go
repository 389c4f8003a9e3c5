package external

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/export"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// ErrExporting says that another export runs.
var ErrExporting = errors.New("another export is still being written")

// errNoName says that the path of a file is empty.
var errNoName = errors.New("a file needs a name")

// Range is what an export writes: the records from First to Last that match.
type Range struct {
	First, Last uint64
	Query       query.Query
	Since       time.Time // of the reception; zero: any time
}

// Takes reports whether a record is in the range.
func (r *Range) Takes(rec *event.Record) bool {
	return rec.Seq >= r.First && rec.Seq <= r.Last && !rec.ReceivedAt.Before(r.Since) && r.Query.Matches(rec)
}

// Exports writes records to files, one at a time.
type Exports struct {
	Create CreateFile // replaced in tests
	screen widget.Screen
	now    *exporting // nil if no export runs
}

// NewExports returns exports to private files; none runs yet.
func NewExports(screen widget.Screen) Exports { return Exports{Create: createPrivate, screen: screen} }

// exporting is a running export.
type exporting struct {
	path   string
	n      atomic.Int64
	done   atomic.Uint64 // of total, in sequence numbers
	total  atomic.Uint64 // 0: not known yet
	cancel context.CancelFunc
}

// CreateFile creates a file that only the user can read. It replaces an existing file only with
// overwrite, and only when the new file is complete.
type CreateFile func(path string, overwrite bool) (OutFile, error)

// OutFile is a file that appears at its path when Keep is called, and is removed by Drop.
type OutFile interface {
	io.Writer
	Keep() error
	Drop() error
}

// Running is the progress of an export.
type Running struct {
	Path        string // "" if no export runs
	Records     int64  // written so far
	Done, Total uint64 // sequence numbers of the log that were read; Total 0: not known yet
}

// Running returns the progress of the running export.
func (x *Exports) Running() Running {
	if x.now == nil {
		return Running{}
	}
	return Running{x.now.path, x.now.n.Load(), x.now.done.Load(), x.now.total.Load()}
}

// Writing reports whether an export runs.
func (x *Exports) Writing() bool { return x.now != nil }

// Stop cancels the running export, which leaves no file.
func (x *Exports) Stop() {
	if x.now != nil {
		x.now.cancel()
	}
}

// Begin returns a command that writes a range to a file until ctx ends.
//
// Errors: [fs.ErrExist], [ErrExporting], that the file cannot be created.
func (x *Exports) Begin(ctx context.Context, log eventlog.Records, r Range, path string, overwrite bool) (tea.Cmd, error) {
	if x.now != nil {
		return nil, ErrExporting
	}
	file, err := x.Create(path, overwrite)
	if err != nil {
		return nil, err
	}
	w, err := export.NewWriter(file, export.Options{Format: formatOf(path)})
	if err != nil {
		return nil, errors.Join(err, file.Drop())
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &exporting{path: path, cancel: cancel}
	x.now = e
	return x.screen.Do(func(context.Context) tea.Msg {
		defer cancel()
		err := e.write(ctx, w, log, r)
		if err != nil {
			err = errors.Join(err, file.Drop())
		} else {
			err = file.Keep()
		}
		return widget.Then(func() tea.Cmd { x.done(e, err); return nil })
	}), nil
}

// done shows how an export ended.
func (x *Exports) done(e *exporting, err error) {
	x.now = nil
	switch {
	case errors.Is(err, context.Canceled):
		x.screen.Tell("the export was stopped; no file was left")
	case err != nil:
		x.screen.Fail("cannot write "+e.path, err)
	default:
		x.screen.Tell(fmt.Sprintf("wrote %s to %s", cells.Count(int(e.n.Load()), "record"), absolute(e.path)))
	}
}

// absolute returns the absolute form of a path, or the path itself if the working directory is not
// known.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// formatOf returns the format for the name of a file.
func formatOf(path string) export.Format {
	name := strings.ToLower(filepath.Base(path))
	switch {
	case strings.HasSuffix(name, ".csv"):
		return export.CSV
	case strings.Contains(name, "cloudevents"):
		return export.CloudEvents
	}
	return export.NDJSON
}

// write writes the records of a range.
func (x *exporting) write(ctx context.Context, w *export.Writer, log eventlog.Records, r Range) error {
	var failed error
	first := uint64(0) // the oldest record of the range that is left in the log
	err := log.After(r.First-1, func(rec event.Record) bool {
		if rec.Seq > r.Last {
			return false
		}
		if first == 0 {
			first = rec.Seq
			x.total.Store(r.Last - first + 1)
		}
		x.done.Store(rec.Seq - first)
		if failed = ctx.Err(); failed != nil {
			return false
		}
		if !r.Takes(&rec) {
			return true
		}
		if failed = w.Write(&rec); failed != nil {
			return false
		}
		x.n.Add(1)
		return true
	})
	return errors.Join(err, failed, w.Flush())
}

// newFile is a temporary file in the directory of its path.
type newFile struct {
	*os.File
	path string
}

func createPrivate(path string, overwrite bool) (OutFile, error) {
	if path == "" {
		return nil, errNoName
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	case err == nil && !overwrite:
		return nil, fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".eventdeck-*")
	if err != nil {
		if of := (*fs.PathError)(nil); errors.As(err, &of) { // without the name of the temporary file
			err = of.Err
		}
		return nil, fmt.Errorf("cannot create %s: %w", path, err)
	}
	return &newFile{f, path}, nil
}

// Keep moves the file to its path.
func (f *newFile) Keep() error {
	if err := f.Close(); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Drop removes the file.
func (f *newFile) Drop() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
