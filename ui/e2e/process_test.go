package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for a cause; if all is well, no wait takes as long.
const patience = 3 * time.Minute

// world is a user's machine for one test: a home, a state directory.
type world struct {
	t    *testing.T
	dir  string
	vars []string // NAME=VALUE, of the environment of every program
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return newWorldAlone(t)
}

// newWorldAlone is newWorld for a test that measures and must run alone, and for another world
// of the same test.
func newWorldAlone(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	t.Cleanup(w.remove)
	if err := os.Mkdir(w.temp(), 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

// remove removes what is in the directory of the world, after its programs were killed. The
// supervisor of a command outlives its host and may still write: then it is removed again.
func (w *world) remove() {
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if err = os.RemoveAll(w.dir); err == nil {
			return
		}
	}
	w.t.Errorf("the directory of the world: %v", err)
}

// temp is the directory for temporary files of the program.
func (w *world) temp() string { return filepath.Join(w.dir, "tmp") }

func (w *world) data() string { return filepath.Join(w.dir, "data") }

// process is a running program whose output lines are kept.
type process struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	stderr *lines
	stdout *lines
	exited chan struct{}
	err    error
}

// start runs the program. env entries are NAME=VALUE.
func (w *world) start(env []string, args ...string) *process {
	w.t.Helper()
	stdout := newLines()
	p := w.startReading(env, stdout.read, args...)
	p.stdout = stdout
	return p
}

// startReading is start with another reader of standard output.
func (w *world) startReading(env []string, read func(io.Reader), args ...string) *process {
	w.t.Helper()
	return w.startOn(nil, env, read, args...)
}

// startOn is startReading with a standard input; nil for none.
func (w *world) startOn(stdin *os.File, env []string, read func(io.Reader), args ...string) *process {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	p := &process{t: w.t, name: strings.Join(args, " "), stderr: newLines(), exited: make(chan struct{})}
	p.cmd = exec.Command(self, args...)
	p.cmd.Env = append(w.env(), env...)
	if stdin != nil {
		p.cmd.Stdin = stdin
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { read(stdout) })
	reading.Go(func() { p.stderr.read(stderr) })
	go func() {
		reading.Wait()
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	w.t.Cleanup(p.kill)
	return p
}

// env is the environment of a program in this world.
func (w *world) env() []string {
	return append(append(os.Environ(), w.vars...), envProgram+"=1", "HOME="+w.dir, "XDG_STATE_HOME="+filepath.Join(w.dir, "state"),
		"XDG_CONFIG_HOME="+filepath.Join(w.dir, "config"), "DBUS_SESSION_BUS_ADDRESS=", "TMPDIR="+w.temp())
}

// kill ends the process with SIGKILL and waits for it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.exited
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("signal %v to %s: %v", s, p.name, err)
	}
}

// wait waits for the end and returns the exit code.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // its stacks tell what it waits for
		select {
		case <-p.exited:
		case <-time.After(patience):
		}
		p.t.Fatalf("%s does not end\nstderr: %s", p.name, p.stderr.text())
	}
	return p.cmd.ProcessState.ExitCode()
}

// await waits until the output has n lines that match.
func (p *process) await(l *lines, n int, match func(string) bool) string {
	p.t.Helper()
	line, ok := l.await(n, match, p.exited)
	if !ok {
		p.t.Fatalf("%s: the awaited line did not come\nstdout: %.3000s\nstderr: %.3000s", p.name, l.text(), p.stderr.text())
	}
	return line
}

// pager starts the demo server pager and returns its address.
func (w *world) pager(args ...string) (*process, string) {
	w.t.Helper()
	return w.serve("pager", args...)
}

// serve starts a demo server and returns its address. While another program has the port that
// args name, it tries again.
func (w *world) serve(name string, args ...string) (*process, string) {
	w.t.Helper()
	args = append([]string{"demo-server", name, "--listen", "127.0.0.1:0"}, args...)
	listens := func(line string) bool { return strings.HasPrefix(line, "listening on ") }
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		p := w.start(nil, args...)
		line, ok := p.stderr.await(1, listens, p.exited)
		switch {
		case ok:
			return p, strings.TrimPrefix(line, "listening on ")
		case !strings.Contains(p.stderr.text(), "address already in use") || time.Now().After(deadline):
			w.t.Fatalf("%s does not listen: %s", p.name, p.stderr.text())
		}
	}
}

// run runs a command to its end and returns what it wrote to stdout.
func (w *world) run(args ...string) (string, int) {
	w.t.Helper()
	p := w.start(nil, args...)
	code := p.wait()
	return p.stdout.text(), code
}

// record is a JSON line of tail and events.
type record struct {
	Seq          uint64          `json:"seq"`
	Kind         string          `json:"kind"`
	Subscription string          `json:"subscription"`
	Mode         string          `json:"mode"`
	EventID      string          `json:"eventId"`
	Cursor       *string         `json:"cursor"`
	Data         json.RawMessage `json:"data"`
	Cause        string          `json:"cause"`
	Certain      bool            `json:"certain"`
	State        string          `json:"state"`
	Timestamp    time.Time       `json:"timestamp"`
	ReceivedAt   time.Time       `json:"receivedAt"`
	From         time.Time       `json:"from"`
	To           time.Time       `json:"to"`
}

// n is the number of a load.tick event.
func (r record) n(t *testing.T) int {
	t.Helper()
	var d struct{ N int }
	if err := json.Unmarshal(r.Data, &d); err != nil || d.N == 0 {
		t.Fatalf("event %s has no data.n: %s", r.EventID, r.Data)
	}
	return d.N
}

func decode(t *testing.T, text string) []record {
	t.Helper()
	var out []record
	for _, line := range strings.Split(text, "\n") {
		if line == "" {
			continue
		}
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("not a JSON line: %v: %s", err, line)
		}
		out = append(out, r)
	}
	return out
}

// stored returns all records in the store of the world.
func (w *world) stored() []record {
	w.t.Helper()
	out, code := w.run("events", "--data", w.data(), "--json")
	if code != 0 {
		w.t.Fatalf("events ended with %d", code)
	}
	return decode(w.t, out)
}

func isEvent(line string) bool { return strings.Contains(line, `"kind":"event"`) }

// lines collects the lines of an output.
type lines struct {
	mu      sync.Mutex
	all     []string
	changed chan struct{}
}

func newLines() *lines { return &lines{changed: make(chan struct{})} }

func (l *lines) read(r io.Reader) {
	br := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := br.ReadBytes('\n')
		if len(line) > 0 {
			l.mu.Lock()
			l.all = append(l.all, string(bytes.TrimRight(line, "\r\n")))
			close(l.changed)
			l.changed = make(chan struct{})
			l.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

func (l *lines) await(n int, match func(string) bool, exited <-chan struct{}) (string, bool) {
	deadline := time.After(patience)
	found, next := 0, 0
	for {
		l.mu.Lock()
		for ; next < len(l.all); next++ {
			if match(l.all[next]) {
				if found++; found == n {
					line := l.all[next]
					l.mu.Unlock()
					return line, true
				}
			}
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-exited:
			exited = nil
			if l.drained(next) {
				return "", false
			}
		case <-deadline:
			return "", false
		}
	}
}

func (l *lines) drained(next int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return next >= len(l.all)
}

// contains reports whether a line has all the words.
func contains(words ...string) func(string) bool {
	return func(line string) bool {
		for _, w := range words {
			if !strings.Contains(line, w) {
				return false
			}
		}
		return true
	}
}
