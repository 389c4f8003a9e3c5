// Package crash restores the terminal when the program dies: by a panic in any goroutine, a
// fatal error of the runtime, or kill -9. A second process of the same program, the
// monitor, reads a pipe, to which the dying runtime writes. When the pipe ends without the
// word for a clean exit the monitor restores the terminal, keeps a report without payloads,
// and says where it is.
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

// env tells a process that it is a monitor; its value is a task in JSON.
const env = "EVENTDECK_MONITOR"

// cleanExit is written to the pipe by a program that ends in good order.
const cleanExit = "goodbye\n"

// Bounds.
const (
	maxText     = 1 << 20 // bytes of what the runtime writes
	reportsKept = 10
)

// task is what the monitor has to know.
type task struct {
	Dir      string          `json:"dir"`
	Version  string          `json:"version"`
	Terminal json.RawMessage `json:"terminal,omitempty"`
}

// Options of [Watch].
type Options struct {
	Executable string   // of this program
	Terminal   *os.File // whose state is kept
	Output     *os.File // the terminal that is drawn on
	Dir        string   // where reports are kept; made when there is one
	Version    string   // of the program, for reports
}

// Watch starts a monitor for this process. It must be called before the state of
// the terminal is changed. stop tells the monitor of a clean exit and waits for its end; it
// is called once, when the terminal is as it was.
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
		// The runtime holds a copy of the pipe until it is told otherwise.
		err := debug.SetCrashOutput(nil, debug.CrashOptions{})
		_, said := io.WriteString(out, cleanExit)
		return errors.Join(err, said, out.Close(), cmd.Wait())
	}, nil
}

// IsMonitor reports whether this process was started to be a monitor. Then it
// must call [Monitor] and nothing else.
func IsMonitor() bool { return os.Getenv(env) != "" }

// Monitor waits for the end of the program that started this process, and
// returns the exit code.
func Monitor() int {
	ignoreSignals()
	var t task
	if err := json.Unmarshal([]byte(os.Getenv(env)), &t); err != nil {
		return 1
	}
	text, _ := io.ReadAll(io.LimitReader(os.Stdin, maxText)) // what came is all there is
	_, _ = io.Copy(io.Discard, os.Stdin)
	if strings.HasSuffix(string(text), cleanExit) {
		return 0
	}
	restoreTerminal(os.Stdout, t.Terminal)
	_, _ = io.WriteString(os.Stdout, asBefore+t.account(string(text), time.Now()))
	return 0
}

// asBefore undoes every mode that a full-screen program sets: alternate screen,
// cursor, mouse, focus, paste, keyboard, synchronized output, colours.
const asBefore = "\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l" +
	"\x1b[<u\x1b[>4m\x1b[?1049l\x1b[?25h\x1b[0m\r"

// account keeps a report of what the runtime wrote, and returns the line for the
// operator.
func (t task) account(text string, now time.Time) string {
	const restartNote = "what was stored is kept; start it again to go on\n"
	if strings.TrimSpace(text) == "" {
		return "eventdeck: it was killed; " + restartNote
	}
	report := Report(text)
	reason, _, _ := strings.Cut(report, "\n")
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

// Report returns what may be kept of the text of a crash: why, where, and the
// stacks with names and lines. The words of a panic are left out unless they are
// the runtime's own, and so are the arguments of calls: both may hold what a
// server sent.
func Report(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
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
		return "it died with words that say nothing\n"
	}
	return b.String()
}

// callName returns the function of a line of a stack, without its arguments.
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

// plainName reports whether s looks like a function of the program, and not like
// words: those have blanks.
func plainName(s string) bool {
	first, rest, _ := strings.Cut(s, " in goroutine ")
	return strings.Contains(first, ".") && !strings.ContainsAny(first, " \"'{}\x1b") && len(first) < 300 && !strings.ContainsAny(rest, "\"'\x1b")
}
