// Package crash restores the terminal when the program dies: by a panic in any goroutine, a fatal
// error of the runtime, or kill -9. A second process of the same program, the monitor, reads a pipe
// to which the dying runtime writes. If the pipe ends without the message of a clean exit, the
// monitor restores the terminal, writes a report without payloads, and prints where it is.
package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// env is the environment variable that makes a process a monitor; its value is a task in JSON.
const env = "EVENTDECK_MONITOR"

// cleanExit is written to the pipe at a clean exit.
const cleanExit = "goodbye\n"

// Bounds.
const (
	maxText     = 1 << 20 // bytes of the runtime's output
	reportsKept = 10
)

// task is the input of the monitor.
type task struct {
	Dir      string          `json:"dir"`
	Version  string          `json:"version"`
	Terminal json.RawMessage `json:"terminal,omitempty"`
}

// Options of [Watch].
type Options struct {
	Executable string   // of this program
	Terminal   *os.File // its state is restored
	Output     *os.File // the terminal that the program draws on
	Dir        string   // directory of reports; made with the first one
	Version    string   // of the program, for reports
}

// Watch starts a monitor for this process. It must be called before the state of the terminal is
// changed. stop reports a clean exit to the monitor and waits for its end; it must be called once,
// after the terminal is restored.
//
// Errors: those of the system.
func Watch(o Options) (stop func() error, err error) {
	t := task{Dir: o.Dir, Version: o.Version}
	if t.Terminal, err = readTerminal(o.Terminal); err != nil {
		return nil, fmt.Errorf("watch the terminal: %w", err)
	}
	words, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("watch the terminal: %w", err)
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("watch the terminal: %w", err)
	}
	cmd := exec.Command(o.Executable)
	cmd.Env = append(os.Environ(), env+"="+string(words))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, o.Output, o.Output
	cmd.SysProcAttr = apart()
	err = cmd.Start()
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("watch the terminal: %w", err), out.Close())
	}
	if err := debug.SetCrashOutput(out, debug.CrashOptions{}); err != nil {
		return nil, errors.Join(fmt.Errorf("watch the terminal: %w", err), out.Close(), cmd.Wait())
	}
	return func() error {
		// The runtime has a copy of the pipe until it gets another one.
		err := debug.SetCrashOutput(nil, debug.CrashOptions{})
		_, said := io.WriteString(out, cleanExit)
		return errors.Join(err, said, out.Close(), cmd.Wait())
	}, nil
}

// IsMonitor reports whether this process is a monitor. Then it must only call [Monitor].
func IsMonitor() bool { return os.Getenv(env) != "" }

// Monitor waits for the end of the program that started this process, and returns its own exit
// code.
func Monitor() int {
	ignoreSignals()
	var t task
	if err := json.Unmarshal([]byte(os.Getenv(env)), &t); err != nil {
		return 1
	}
	text, _ := io.ReadAll(io.LimitReader(os.Stdin, maxText)) // the text until an error will do
	_, _ = io.Copy(io.Discard, os.Stdin)
	if strings.HasSuffix(string(text), cleanExit) {
		return 0
	}
	restoreTerminal(os.Stdout, t.Terminal)
	_, _ = io.WriteString(os.Stdout, resetModes+t.account(string(text), time.Now()))
	return 0
}

// resetModes undoes every mode that a full-screen program sets: alternate screen, cursor, mouse,
// focus, paste, keyboard, synchronized output, colours.
const resetModes = "\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l" +
	"\x1b[<u\x1b[>4m\x1b[?1049l\x1b[?25h\x1b[0m\r"

// account writes a report about the runtime's output, and returns a line for the operator.
func (t task) account(text string, now time.Time) string {
	const restartNote = "what was stored is kept; start it again to go on\n"
	if strings.TrimSpace(text) == "" {
		return "eventdeck: it was killed; " + restartNote
	}
	report := Report(text)
	reason, _, _ := strings.Cut(report, "\n")
	if strings.HasPrefix(reason, "goroutine ") {
		reason = wordless
	}
	path, err := t.keep(report, now)
	if err != nil {
		return fmt.Sprintf("eventdeck: %s; the report could not be kept: %v; %s", reason, err, restartNote)
	}
	return fmt.Sprintf("eventdeck: %s; the report is %s; %s", reason, path, restartNote)
}

const reportName = "crash-20060102T150405Z.txt"

func (t task) keep(report string, now time.Time) (path string, err error) {
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(t.Dir, now.UTC().Format(reportName))
	info, _ := debug.ReadBuildInfo()
	content := fmt.Sprintf("eventdeck %s\n%s\n%s\n\n%s", t.Version, info.GoVersion, now.UTC().Format(time.RFC3339), report)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return "", err
	}
	return path, prune(t.Dir)
}

// prune removes the oldest reports.
func prune(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "crash-*.txt"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, old := range names[:max(0, len(names)-reportsKept)] {
		if err := os.Remove(old); err != nil {
			return err
		}
	}
	return nil
}

// Report returns the safe parts of the text of a crash: why, where, and the stacks with names and
// lines. Panic messages are left out unless they are the runtime's own, and so are the arguments of
// calls: both may hold data of a server.
func Report(text string) string {
	var b strings.Builder
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		begins := first
		first = false
		switch {
		case begins && signalName(line):
			b.WriteString(line)
		case strings.HasPrefix(line, "panic: runtime error: "), strings.HasPrefix(line, "fatal error: "), strings.HasPrefix(line, "runtime: "):
			b.WriteString(line)
		case strings.HasPrefix(line, "panic: "):
			b.WriteString("panic (its words are left out: they may hold data)")
		case strings.HasPrefix(line, "[signal "), strings.HasPrefix(line, "goroutine "):
			b.WriteString(line)
		case strings.HasPrefix(line, "\t") && strings.Contains(line, ".go:"):
			b.WriteString(line)
		default:
			call, ok := callName(line)
			if !ok {
				continue
			}
			b.WriteString(call)
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return wordless + "\n"
	}
	return b.String()
}

const wordless = "it died with words that say nothing"

// signalName reports whether a line is the runtime's name of a signal, such as "SIGQUIT: quit".
func signalName(line string) bool {
	name, _, ok := strings.Cut(line, ": ")
	return ok && len(line) < 60 && strings.HasPrefix(name, "SIG") && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// callName returns the function in a line of a stack, without its arguments.
func callName(line string) (string, bool) {
	if by, ok := strings.CutPrefix(line, "created by "); ok {
		return "created by " + strings.TrimSpace(by), plainName(by)
	}
	at := strings.LastIndexByte(line, '(')
	if at <= 0 || !strings.HasSuffix(line, ")") || !plainName(line[:at]) {
		return "", false
	}
	return line[:at], true
}

// plainName reports whether s looks like the name of a function, and not like text, which has
// blanks.
func plainName(s string) bool {
	first, rest, _ := strings.Cut(s, " in goroutine ")
	return strings.Contains(first, ".") && !strings.ContainsAny(first, " \"'{}\x1b") && len(first) < 300 && !strings.ContainsAny(rest, "\"'\x1b")
}
