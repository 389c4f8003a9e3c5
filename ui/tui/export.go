package tui

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

// exportSays is what stands under the name of a file to write.
const exportSays = "enter writes   the ending chooses: .ndjson .csv .cloudevents.json   esc goes back"

// errExporting: one export at a time.
var errExporting = errors.New("another export is still being written")

func exportActions() []action {
	return grouped("Copy",
		action{id: "export", title: "write what is shown or selected to a file", keys: []string{"w"}, hint: "write", panes: onMain, when: (*app).onRecord, run: act((*app).openExport)},
		action{id: "export.stop", title: "stop the export that is being written", when: func(a *app) bool { return a.exporting != nil }, run: act((*app).stopExport)},
	)
}

// exportRange is what an export writes: what the stream takes of the records
// from first to last.
type exportRange struct {
	first, last uint64
	query       query.Query
	since       time.Time // zero: however old
}

// exporting is an export that is being written.
type exporting struct {
	path   string
	n      atomic.Int64
	cancel context.CancelFunc
}

// exportedMsg: an export is over.
type exportedMsg struct {
	path string
	n    int64
	err  error
}

// createFile makes the file of an export. An existing one is replaced only with
// overwrite, and only when the new one is whole. It is readable by the user alone.
type createFile func(path string, overwrite bool) (outFile, error)

// outFile is a file that is there when it is kept, and not at all when it is not.
type outFile interface {
	io.Writer
	Keep() error
	Drop() error
}

// shown is the range that is selected, or all that the stream shows.
func (a *app) shown() exportRange {
	r := exportRange{first: 1, last: a.stream.Seen, query: a.stream.Query}
	if a.stream.Cut {
		r.last = a.api.Log().Last()
	}
	if a.stream.Selected.On {
		r.first, r.last = a.stream.Ends()
	}
	return r
}

// openExport asks for the file to which what is shown or selected is written.
func (a *app) openExport() {
	what := "everything shown"
	if a.stream.Selected.On {
		what = "what is selected"
	}
	overwrite := ""
	a.askLine(&widget.Prompt{Label: "write " + what + " to:", Says: exportSays, Done: func(text string) tea.Cmd {
		p := a.prompt
		cmd, err := a.export(a.shown(), text, overwrite == text)
		if errors.Is(err, fs.ErrExist) {
			overwrite = text
			p.Problem = "there is such a file; enter again replaces it"
		} else if err != nil {
			p.Problem = err.Error()
		}
		return cmd
	}}, a.exportName())
}

// export begins to write a range to a file.
// Errors: [fs.ErrExist], errExporting, that the file cannot be made.
func (a *app) export(r exportRange, path string, overwrite bool) (tea.Cmd, error) {
	if a.exporting != nil {
		return nil, errExporting
	}
	path = a.atHome(path)
	file, err := a.create(path, overwrite)
	if err != nil {
		return nil, err
	}
	w, err := export.NewWriter(file, export.Options{Format: formatOf(path)})
	if err != nil {
		return nil, errors.Join(err, file.Drop())
	}
	ctx, cancel := context.WithCancel(a.ctx)
	x := &exporting{path: path, cancel: cancel}
	a.exporting = x
	log := a.api.Log()
	return a.Do(func(context.Context) tea.Msg {
		defer cancel()
		err := x.write(ctx, w, log, r)
		if err != nil {
			err = errors.Join(err, file.Drop())
		} else {
			err = file.Keep()
		}
		return exportedMsg{path, x.n.Load(), err}
	}), nil
}

// formatOf tells the format by the ending of a file's name.
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

// atHome puts the user's home directory for a tilde.
func (a *app) atHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && a.env("HOME") != "" {
		return filepath.Join(a.env("HOME"), rest)
	}
	return path
}

// write writes the records of a range.
func (x *exporting) write(ctx context.Context, w *export.Writer, log *eventlog.Log, r exportRange) error {
	var failed error
	err := log.After(r.first-1, func(rec event.Record) bool {
		if rec.Seq > r.last {
			return false
		}
		if failed = ctx.Err(); failed != nil {
			return false
		}
		if rec.ReceivedAt.Before(r.since) || !r.query.Matches(&rec) {
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

func (a *app) exported(msg exportedMsg) {
	a.exporting = nil
	switch {
	case errors.Is(msg.err, context.Canceled):
		a.Tell("the export was stopped; no file was left")
	case msg.err != nil:
		a.Fail("cannot write "+msg.path, msg.err)
	default:
		a.Tell(fmt.Sprintf("wrote %s to %s", cells.Count(int(msg.n), "record"), msg.path))
	}
}

func (a *app) stopExport() { a.exporting.cancel() }

// runExport reads: export FILE, export last 1h FILE.
func runExport(a *app, words []string) (tea.Cmd, error) {
	r := a.shown()
	if len(words) == 3 && words[0] == "last" {
		d, err := time.ParseDuration(words[1])
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("%w: %q is no time span, such as 10m or 1h", errUsage, words[1])
		}
		r.first, r.since = 1, a.Clock().Add(-d)
		words = words[2:]
	}
	overwrite := len(words) == 2 && words[1] == "overwrite"
	if overwrite {
		words = words[:1]
	}
	if len(words) != 1 {
		return nil, usage(a.command("export"))
	}
	cmd, err := a.export(r, words[0], overwrite)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w; add overwrite to replace it", err)
	}
	return cmd, err
}

// newFile is a file that is written beside its place.
type newFile struct {
	*os.File
	path string
}

func createPrivate(path string, overwrite bool) (outFile, error) {
	if path == "" {
		return nil, fmt.Errorf("%w: a file needs a name", errUsage)
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
		if of := (*fs.PathError)(nil); errors.As(err, &of) { // that nobody asked for
			err = of.Err
		}
		return nil, fmt.Errorf("%s cannot be made: %w", path, err)
	}
	return &newFile{f, path}, nil
}

// Keep puts the file in its place.
func (f *newFile) Keep() error {
	if err := f.Close(); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Drop leaves nothing behind.
func (f *newFile) Drop() error { return errors.Join(f.Close(), os.Remove(f.Name())) }

func completeExport(a *app, words []string) []string {
	if len(words) == 1 {
		return []string{"last", a.exportName()}
	}
	if words[0] == "last" && len(words) == 2 {
		return []string{"10m", "1h", "24h"}
	}
	return []string{a.exportName(), "overwrite"}
}

// exportName is the name of a file that is offered.
func (a *app) exportName() string {
	return "events-" + a.Clock().Local().Format("20060102-150405") + ".ndjson"
}
