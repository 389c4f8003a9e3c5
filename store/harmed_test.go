package store

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/store/datadir"
)

// A tail whose store is damaged while it runs ends with 1 and advice.
func TestTailEndsWithItsStore(t *testing.T) {
	if raceDetector {
		t.Skip("the program that is run is not built for the detector")
	}
	w := &damageWorld{program: filepath.Join(t.TempDir(), "eventdeck")}
	w.build(t)
	w.serve(t)
	for name, harm := range map[string]func(dir string) error{
		"empty pages": func(dir string) error {
			f, err := os.OpenFile(filepath.Join(dir, datadir.DB), os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				return err
			}
			first := int64(2 * os.Getpagesize())
			_, err = f.WriteAt(make([]byte, max(info.Size()-first, 0)), first)
			return err
		},
		"cut":     func(dir string) error { return os.Truncate(filepath.Join(dir, datadir.DB), 40_000) },
		"removed": os.RemoveAll,
	} {
		dir := filepath.Join(t.TempDir(), "store")
		cmd := w.command("tail", w.url, "load.tick", "--mode", "push", "--data", dir)
		out, err := cmd.StdoutPipe()
		mustDo(t, err)
		var said bytes.Buffer
		cmd.Stderr = &said
		mustDo(t, cmd.Start())
		hangs := time.AfterFunc(damageLimit, func() { _ = cmd.Process.Kill() })
		printed := bufio.NewScanner(out)
		for n := 0; n < 20 && printed.Scan(); n++ {
		}
		// A commit on its way may write all that the next ones read, so that one harm
		// need not be met.
		ended := make(chan error, 1)
		go func() {
			_, _ = io.Copy(io.Discard, out)
			ended <- cmd.Wait()
		}()
		again := time.NewTicker(50 * time.Millisecond)
		for running := true; running; {
			if err := harm(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
			select {
			case err = <-ended:
				running = false
			case <-again.C:
			}
		}
		again.Stop()
		hangs.Stop()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(said.String(), "eventdeck store re") {
			t.Errorf("%s: %v: %s", name, err, said.String())
		}
	}
}
