package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// settings writes the operator's file of settings.
func (b *bench) settings(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.p.Home, ".config", "eventdeck", "settings.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Each mistake in the file is reported once, and ends nothing.
func TestWrongSettingsEndNothing(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"place":  {`{"key": "drawer"}`, `settings.json:1:9: "key" says where the sealing key of a new store is kept: "file" or "keyring"; the default holds`},
		"syntax": {`{"keys": `, "settings.json:1:10: unexpected end of JSON input; the default holds"},
		"binary": {"\x00\x1b[31m\xff", "settings.json:1:1: "},
	} {
		b := newBench(t)
		b.settings(t, c.text)
		b.p.StdinTerminal, b.p.StdoutTerminal = true, true
		if code := b.run(t, "pager", "--data", b.data(t)); code != exitDone {
			t.Errorf("%s: it ends with %d", name, code)
		}
		if text := b.err.String(); strings.Count(text, c.says) != 1 || strings.Contains(text, "\x1b") {
			t.Errorf("%s: %q does not say %q once", name, text, c.says)
		}
	}
}
