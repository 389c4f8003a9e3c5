package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host"
)

// settings writes the operator's file of settings.
func (b *bench) settings(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.p.Home, ".config", "eventdeck", "settings.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLimitsOfTheSettingsReachHostAndStore(t *testing.T) {
	b := newBench(t)
	b.settings(t, `{"limits": {"servers": 2, "subscriptions": 3, "types": 4, "typePages": 5, "typeBytes": "1MiB", "payload": "2MiB", "depth": 60,
		"queueRecords": 70, "queueBytes": 80000, "auditEntries": 900}}`)
	b.p.StdinTerminal, b.p.StdoutTerminal = true, true
	if code := b.run(t, "pager", "--data", b.data(t)); code != exitDone || strings.Contains(b.err.String(), "limit") {
		t.Fatalf("%d: %s", code, b.err.String())
	}
	want := host.Limits{Servers: 2, Subscriptions: 3, Types: 4, TypePages: 5, TypeBytes: 1 << 20, Payload: 2 << 20, Depth: 60}
	if b.options.Limits != want {
		t.Errorf("the host has %+v", b.options.Limits)
	}
	if o := b.opened[0]; o.QueueRecords != 70 || o.QueueBytes != 80_000 || o.AuditEntries != 900 {
		t.Errorf("the store has %+v", o)
	}
}

// Each mistake in the file is reported once, and ends nothing.
func TestWrongLimitsEndNothing(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		says  []string
		limit int
	}{
		"one":    {`{"limits": {"subscriptions": 0, "servers": 7, "x": 1}}`, []string{"settings.json:1:30: limit \"subscriptions\": it must be a whole number from 1 to 1000000; the default holds", `there is no limit "x"`}, 7},
		"shape":  {`{"limits": 5}`, []string{`"limits" must be an object; the default holds`}, 0},
		"syntax": {`{"limits": `, []string{"settings.json:1:12: unexpected end of JSON input; the default holds"}, 0},
		"binary": {"\x00\x1b[31m\xff", []string{"settings.json:1:1: "}, 0},
	} {
		b := newBench(t)
		b.settings(t, c.text)
		b.p.StdinTerminal, b.p.StdoutTerminal = true, true
		if code := b.run(t, "pager", "--data", b.data(t)); code != exitDone {
			t.Errorf("%s: it ends with %d", name, code)
		}
		for _, want := range c.says {
			if text := b.err.String(); strings.Count(text, want) != 1 || strings.Contains(text, "\x1b") {
				t.Errorf("%s: %q does not say %q once", name, text, want)
			}
		}
		if b.options.Limits != (host.Limits{Servers: c.limit}) {
			t.Errorf("%s: the host has %+v", name, b.options.Limits)
		}
	}
}
