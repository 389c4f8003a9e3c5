//go:build linux

package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"eventdeck/ui/internal/screen"
)

// The measurements of docs/benchmarks.md. They build the real program and run it
// on a pseudo-terminal of 200 by 50 cells:
//
//	EVENTDECK_MEASURE=1 go test ./ui/e2e -run Measure -v -timeout 20m
//
// EVENTDECK_STORE names a store of 1,000,000 events that `go run -C ui/internal/bench . fill`
// made; without it one is made for the run.
const (
	envMeasure = "EVENTDECK_MEASURE"
	envStore   = "EVENTDECK_STORE"
)

func measuring(t *testing.T) *world {
	t.Helper()
	if os.Getenv(envMeasure) == "" {
		t.Skip("set " + envMeasure + " to measure")
	}
	return newWorldAlone(t)
}

// program builds the program and returns its path.
func (w *world) program() string {
	w.t.Helper()
	path := filepath.Join(w.dir, "eventdeck")
	if out, err := exec.Command("go", "build", "-o", path, "../..").CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return path
}

// million returns the directory of a store with 1,000,000 events.
func (w *world) million() string {
	w.t.Helper()
	if dir := os.Getenv(envStore); dir != "" {
		return dir
	}
	dir := filepath.Join(w.dir, "million")
	if out, err := exec.Command("go", "run", "-C", "../internal/bench", ".", "fill", dir).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// measured is the program on a pseudo-terminal, with the time of its start.
type measured struct {
	*terminal
	began time.Time
}

func (w *world) measured(path string, args ...string) *measured {
	w.t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(w.env(), "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "NO_COLOR=", "SSH_CONNECTION=")
	cmd.Env = slices.DeleteFunc(cmd.Env, func(s string) bool { return strings.HasPrefix(s, envProgram+"=") })
	m := &measured{terminal: &terminal{t: w.t, screen: screen.New(200, 50, false), cmd: cmd, ended: make(chan error, 1)}, began: time.Now()}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 50})
	if err != nil {
		w.t.Fatal(err)
	}
	m.tty = tty
	go func() {
		_, _ = io.Copy(m.screen, tty) // ends with the program
		m.ended <- cmd.Wait()
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		tty.Close()
	})
	return m
}

// cpu is the CPU time of the process, in user and system mode.
func (m *measured) cpu() time.Duration {
	m.t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.cmd.Process.Pid))
	if err != nil {
		m.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	ticks := 0
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(f)
		if err != nil {
			m.t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100 // USER_HZ
}

// quantile returns a quantile of durations.
func quantile(d []time.Duration, q float64) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[min(int(float64(len(d))*q), len(d)-1)]
}

// TestMeasureFirstFrame: from the start of the process to a whole screen of a
// store with 1,000,000 events.
func TestMeasureFirstFrame(t *testing.T) {
	w := measuring(t)
	path, store := w.program(), w.million()
	var took []time.Duration
	for range 11 {
		m := w.measured(path, "--data", store)
		m.sees("the first frame", func(s string) bool { return strings.Contains(s, "1,000,000 stored") })
		took = append(took, time.Since(m.began))
		m.keys("q")
		m.endsWell()
	}
	t.Logf("first frame with 1,000,000 events: median %v, worst %v", quantile(took, 0.5), quantile(took, 1))
}

// TestMeasureKeys: from a key to what it changes on the screen, while 20,000
// events a second arrive.
func TestMeasureKeys(t *testing.T) {
	w := measuring(t)
	path := w.program()
	_, url := w.pager("--rate", "20000")
	m := w.measured(path, url, "--data", w.data())
	m.reads("load.tick")
	m.keys("1")
	for range 30 { // down to the type
		if strings.Contains(m.screen.Text(), "not subscribed") {
			break
		}
		m.keys("j")
	}
	m.keys(":subscribe\r")
	m.reads(" Subscribe ")
	m.subscribes()
	m.reads("1 push")
	m.keys("2G")
	m.sees("the flood", func(s string) bool { return strings.Contains(s, ",") && strings.Contains(s, "/s") })
	time.Sleep(3 * time.Second)
	before, at := m.cpu(), time.Now()
	var took []time.Duration
	for i := range 300 {
		// The help opens and closes: both change the whole middle of the screen.
		began := time.Now()
		if i%2 == 0 {
			m.keys("?")
			m.sees("the help", func(s string) bool { return strings.Contains(s, "Keys that work") })
		} else {
			m.keys(esc)
			m.sees("no help", func(s string) bool { return !strings.Contains(s, "Keys that work") })
		}
		took = append(took, time.Since(began))
		time.Sleep(time.Duration(17+i%13) * time.Millisecond) // not in step with the frames
	}
	used := (m.cpu() - before).Seconds() / time.Since(at).Seconds()
	t.Logf("key to repaint at 20,000 events/s: p50 %v, p95 %v, p99 %v, worst %v; %.0f %% of a core\n%s",
		quantile(took, 0.5), quantile(took, 0.95), quantile(took, 0.99), quantile(took, 1), 100*used, m.screen.Text())
}

// TestMeasureIdle: the CPU of a program on which nothing happens, with and
// without the focus.
func TestMeasureIdle(t *testing.T) {
	w := measuring(t)
	m := w.measured(w.program(), "--data", w.million())
	m.reads("1,000,000 stored")
	const span = 20 * time.Second
	for _, focus := range []struct{ name, keys string }{{"with the focus", "\x1b[I"}, {"without it", "\x1b[O"}} {
		m.keys(focus.keys)
		time.Sleep(3 * time.Second)
		before := m.cpu()
		time.Sleep(span)
		t.Logf("idle %s: %.2f %% of a core", focus.name, 100*(m.cpu()-before).Seconds()/span.Seconds())
	}
	m.keys("q")
	m.endsWell()
}
