package external_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/internal/tuitest"
)

// The text reaches the system's clipboard unchanged, without a shell. Over SSH that clipboard is not
// used.
func TestCopyPassesTheTextToTheProgram(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	script := "#!/bin/sh\n/bin/cat > " + kept + "\n"
	if err := os.WriteFile(filepath.Join(dir, "xclip"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	variables := map[string]string{"DISPLAY": ":0"}
	s, getenv := &tuitest.Screen{}, func(name string) string { return variables[name] }
	text := "$(id) 'quoted'\n" + strings.Repeat("é", 100_000)
	tuitest.Run(external.New(s, getenv, nil).SetClipboard(text))
	if got, err := os.ReadFile(kept); err != nil || string(got) != text || s.Failed != nil {
		t.Errorf("%d bytes of %d arrived, %v, %v", len(got), len(text), err, s.Failed)
	}
	if err := os.WriteFile(filepath.Join(dir, "xclip"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if tuitest.Run(external.New(s, getenv, nil).SetClipboard(text)); s.Failed == nil {
		t.Error("a failure is not told")
	}
	variables["SSH_TTY"] = "/dev/pts/1"
	if external.New(s, getenv, nil).SetClipboard(text) != nil {
		t.Error("over SSH the text went to the clipboard")
	}
}
