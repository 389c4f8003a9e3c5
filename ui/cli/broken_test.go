package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/ui/cli/program"
)

// damagedStores are stores of 1,000 events, of which one entry is damaged, or a whole page is
// missing.
func damagedStores(t *testing.T) map[string]string {
	t.Helper()
	dirs := map[string]string{}
	for name, damage := range map[string]func(file []byte, at int){
		"a changed byte": func(file []byte, at int) { file[at] ^= 1 },
		"an empty page": func(file []byte, at int) {
			page := os.Getpagesize()
			clear(file[at/page*page:][:page])
		},
		"a page with fewer records": func(file []byte, at int) {
			page := os.Getpagesize()
			file[at/page*page+10]-- // how many it has
		},
		"a changed number": func(file []byte, at int) {
			page := file[at/os.Getpagesize()*os.Getpagesize():]
			page[16+16*(int(page[10])-1)+4] ^= 0x40 // where the last key lies
		},
	} {
		dir := t.TempDir()
		storeSome(t, dir, 1000)
		path := filepath.Join(dir, "state.db")
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(file, []byte(`{"n":500,`))
		damage(file, at)
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		dirs[name] = dir
	}
	return dirs
}

// Of a damaged store whole records are printed, then the advice, and the command fails.
func TestDamagedStoreIsPrintedWithAnError(t *testing.T) {
	for name, dir := range damagedStores(t) {
		for _, args := range [][]string{{"events"}, {"events", "--limit", "900"}, {"export"}, {"export", "--format", "csv"}} {
			if name == "a page with fewer records" && len(args) > 1 && args[1] == "--limit" {
				continue // only a reader from the beginning counts
			}
			b := newBench(t)
			b.realStores()
			if code, said := b.run(t, append(args, "--data", dir)...), b.err.String(); code != exitError || strings.Count(said, "\n") != 1 || !strings.Contains(said, "eventdeck store recover") {
				t.Errorf("%s: %q ends with %d: %s", name, args, code, said)
			}
			out := b.out.String()
			if out != "" && !strings.HasSuffix(out, "\n") {
				t.Errorf("%s: %q ends in the middle of a line", name, args)
			}
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if len(lines) > 1002 || len(lines) < 90 {
				t.Errorf("%s: %q printed %d lines", name, args, len(lines))
			}
			for _, line := range lines {
				if args[len(args)-1] != "csv" && !json.Valid([]byte(line)) {
					t.Errorf("%s: %q printed %q", name, args, line)
				}
			}
		}
		b := newBench(t)
		b.realStores()
		file := filepath.Join(t.TempDir(), "kept.ndjson")
		b.expect(t, exitError, file+".incomplete", "export", "--output", file, "--data", dir)
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a part stands where all was to be: %v", name, err)
		}
	}
}

// breaking is a store that can break.
type breaking struct {
	event.Store
	broken chan struct{}
}

func (b breaking) Broken() <-chan struct{} { return b.broken }

func (b breaking) Info() event.StoreInfo {
	return event.StoreInfo{Err: fmt.Errorf("%w: page 7", event.ErrDamaged)}
}

// A screen ends with its store, and the advice is printed.
func TestScreenEndsWithItsStore(t *testing.T) {
	s := breaking{broken: make(chan struct{})}
	d := &program.OpenHost{Store: s}
	if err := d.WhileSound(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("a screen on a sound store: %v", err)
	}
	err := d.WhileSound(t.Context(), func(ctx context.Context) error {
		close(s.broken)
		<-ctx.Done()
		return nil
	})
	if !errors.Is(err, event.ErrDamaged) || !strings.Contains(err.Error(), "eventdeck store recover") || exitCode(err) != exitError {
		t.Errorf("%v", err)
	}
}
