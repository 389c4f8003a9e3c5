package tui

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/ui/tui/external"
)

// memoryFile is an export file in memory.
type memoryFile struct {
	bytes.Buffer
	kept, dropped bool
	fail          error
}

func (f *memoryFile) Write(p []byte) (int, error) {
	if f.fail != nil {
		return 0, f.fail
	}
	return f.Buffer.Write(p)
}
func (f *memoryFile) Keep() error { f.kept = true; return nil }
func (f *memoryFile) Drop() error { f.dropped = true; return nil }

// noFiles discards exports.
func noFiles(string, bool) (external.OutFile, error) { return &memoryFile{}, nil }

func TestExportWritesShownRecords(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	var out *memoryFile
	var path string
	a.Outside.Exports.Create = func(p string, _ bool) (external.OutFile, error) { path, out = p, &memoryFile{}; return out, nil }
	press(t, a, "2", "w")
	exact(t, a)
	if name := a.prompt.Field.Text(); name != "events-20260314-140305.ndjson" {
		t.Errorf("the name that is offered is %q", name)
	}
	if says := a.prompt.Says; !strings.HasPrefix(says, "6 records, no filter") {
		t.Errorf("before enter it says %q", says)
	}
	press(t, a, "enter")
	whole, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); !out.kept || lines != 6 || path != "events-20260314-140305.ndjson" || !strings.Contains(a.Edges.Status.Note.Text, "wrote 6 records to "+whole) {
		t.Errorf("%d lines to %s, %q", lines, path, a.Edges.Status.Note.Text)
	}
	for _, l := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if !json.Valid([]byte(l)) {
			t.Errorf("no JSON: %s", l)
		}
	}
	filterBy(t, a, "server:chat")
	settle(a, must(t, a, "export chat.csv"))
	if lines := strings.Count(out.String(), "\n"); lines != 3 {
		t.Errorf("the filter lets %d lines through", lines)
	}
	press(t, a, "w")
	if says := a.prompt.Says; !strings.HasPrefix(says, "2 records that match server:chat") {
		t.Errorf("with a filter it says %q", says)
	}
	press(t, a, "esc", "x", "w")
	if says := a.prompt.Says; !strings.HasPrefix(says, "6 records, the filter server:chat is off") {
		t.Errorf("with a filter that is off it says %q", says)
	}
	press(t, a, "esc", "esc", "g", "v", "j", "w")
	if says := a.prompt.Says; !strings.HasPrefix(says, "2 records, no filter") {
		t.Errorf("of a range it says %q", says)
	}
	press(t, a, "enter")
	if lines := strings.Count(out.String(), "\n"); lines != 2 {
		t.Errorf("the range has %d lines", lines)
	}
	settle(a, must(t, a, "export last 1m x.cloudevents.json"))
	if !strings.Contains(out.String(), `"specversion":"1.0"`) {
		t.Errorf("no CloudEvents: %s", out.String())
	}
}

func TestExportOverwritesOnlyWhenAsked(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "out.ndjson")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := open(t, incident(), 120, 40)
	press(t, a, "2", "w", "ctrl+u")
	word(t, a, file)
	press(t, a, "enter")
	if got, _ := os.ReadFile(file); string(got) != "precious" || a.prompt == nil || !strings.Contains(screenOf(a), "enter again replaces it") {
		t.Fatalf("the file is %q, said is %q", got, a.Edges.Status.Note.Text)
	}
	press(t, a, "enter")
	got, err := os.ReadFile(file)
	if info, _ := os.Stat(file); err != nil || strings.Count(string(got), "\n") != 6 || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %q, %v", got, err)
	}
	if _, err := a.actions.Execute("export " + file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if _, err := a.actions.Execute("export " + dir); err == nil {
		t.Error("a directory was replaced")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files are left", len(left))
	}
}

func TestFailedExportLeavesNothing(t *testing.T) {
	a := open(t, incident(), 120, 40)
	out := &memoryFile{fail: errors.New("disk full")}
	a.Outside.Exports.Create = func(string, bool) (external.OutFile, error) { return out, nil }
	settle(a, must(t, a, "export x.ndjson"))
	if out.kept || !out.dropped || !a.Edges.Status.Note.Bad || !strings.Contains(a.Edges.Status.Note.Text, "disk full") {
		t.Errorf("kept %v, told %q", out.kept, a.Edges.Status.Note.Text)
	}
	out = &memoryFile{}
	cmd := must(t, a, "export x.ndjson")
	if _, err := a.actions.Execute("export y.ndjson"); !errors.Is(err, external.ErrExporting) {
		t.Errorf("a second one begins: %v", err)
	}
	a.Edges.Status.Hush()
	if !strings.Contains(screenOf(a), "writing 0 to x.ndjson") {
		t.Error("a running export does not show")
	}
	must(t, a, "export.stop")
	settle(a, cmd)
	if out.kept || !out.dropped || !strings.Contains(a.Edges.Status.Note.Text, "stopped") {
		t.Errorf("stopped: kept %v, told %q", out.kept, a.Edges.Status.Note.Text)
	}
}
