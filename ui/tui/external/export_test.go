package external_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/query"
)

// records is a log of n events that then fails with err.
type records struct {
	eventlog.Records
	n   int
	err error
}

func (l records) After(seq uint64, fn func(event.Record) bool) error {
	for i := int(seq) + 1; i <= l.n; i++ {
		r := event.Record{Seq: uint64(i), Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("a.b"), EventID: trust.Untrusted(fmt.Sprint("e", i)),
			ReceivedAt: tuitest.Start, Data: fmt.Appendf(nil, `{"title":"disk %d"}`, i)}
		if !fn(r) {
			return nil
		}
	}
	return l.err
}

func rangeOf(t *testing.T, text string, first, last uint64) external.Range {
	t.Helper()
	q, err := query.New(query.Node{}, text, tuitest.Start)
	if err != nil {
		t.Fatal(err)
	}
	return external.Range{First: first, Last: last, Query: q}
}

func TestExportsAreComplete(t *testing.T) {
	dir, s := t.TempDir(), &tuitest.Screen{}
	x := external.NewExports(s)
	path := filepath.Join(dir, "out.ndjson")
	cmd, err := x.Begin(t.Context(), records{n: 9}, rangeOf(t, "disk", 3, 5), path, false)
	if err != nil || !x.Writing() {
		t.Fatal(err)
	}
	if _, err := x.Begin(t.Context(), records{}, external.Range{}, path+"2", false); !errors.Is(err, external.ErrExporting) {
		t.Errorf("a second one at a time: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is there before it is whole")
	}
	tuitest.Run(cmd)
	raw, err := os.ReadFile(path)
	if err != nil || strings.Count(string(raw), "\n") != 3 || !strings.Contains(string(raw), "disk 3") || s.Told != "wrote 3 records to "+path {
		t.Errorf("%s, %v; told %q", raw, err, s.Told)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := x.Begin(t.Context(), records{}, external.Range{}, path, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an existing file: %v", err)
	}
	for _, path := range []string{"", dir, filepath.Join(dir, "no", "such", "folder")} {
		if _, err := x.Begin(t.Context(), records{}, external.Range{}, path, true); err == nil || strings.Contains(err.Error(), ".eventdeck-") {
			t.Errorf("%q: %v", path, err)
		}
	}
	// An export that fails or is stopped leaves the earlier file, and no other.
	cmd, err = x.Begin(t.Context(), records{n: 4, err: errors.New("the disk is gone")}, rangeOf(t, "", 1, 9), path, true)
	if err != nil {
		t.Fatal(err)
	}
	if tuitest.Run(cmd); s.Failed == nil || !strings.Contains(s.Failed.Error(), "the disk is gone") {
		t.Errorf("error %v", s.Failed)
	}
	cmd, err = x.Begin(t.Context(), records{n: 9}, rangeOf(t, "", 1, 9), path, true)
	if err != nil {
		t.Fatal(err)
	}
	x.Stop()
	if tuitest.Run(cmd); s.Told != "the export was stopped; no file was left" || x.Writing() {
		t.Errorf("told %q", s.Told)
	}
	files, err := os.ReadDir(dir)
	if again, _ := os.ReadFile(path); err != nil || len(files) != 1 || string(again) != string(raw) {
		t.Errorf("%v are left, with %s", files, again)
	}
}

func TestFileNameDecidesTheFormat(t *testing.T) {
	for name, want := range map[string]string{"a.CSV": "seq,", "a.cloudevents.json": `"specversion"`, "a": `"seq":1`} {
		path, s := filepath.Join(t.TempDir(), name), &tuitest.Screen{}
		x := external.NewExports(s)
		cmd, err := x.Begin(context.Background(), records{n: 1}, rangeOf(t, "", 1, 1), path, false)
		if err != nil {
			t.Fatal(err)
		}
		tuitest.Run(cmd)
		if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), want) {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
}
