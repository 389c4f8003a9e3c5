// Package external runs the operator's pager and editor, sets the system's clipboard, and writes
// files.
package external

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// Program is a program of the operator: the one that the first variable with a value names, else
// the first installed one of the usual ones.
type Program struct {
	vars  []string
	usual map[string][]string // by GOOS; "" is every other system
}

// Programs for texts.
var (
	Pager  = Program{[]string{"PAGER"}, map[string][]string{"windows": {"more"}, "": {"less", "more"}}}
	Editor = Program{[]string{"VISUAL", "EDITOR"}, map[string][]string{"windows": {"notepad"}, "": {"sensible-editor", "nano", "vi"}}}
)

// errNoProgram says that no program of a kind is installed.
var errNoProgram = errors.New("no such program found")

// line returns the words of the program's command line. The variable may have arguments. No shell
// reads it.
func (p Program) line(system string, env func(string) string, find func(string) (string, error)) ([]string, error) {
	for _, v := range p.vars {
		line, err := evidence.Split(env(v))
		if system == "windows" { // where a backslash separates folders
			line, err = strings.Fields(env(v)), nil
		}
		if err != nil {
			return nil, fmt.Errorf("$%s: %w", v, err)
		}
		if len(line) > 0 {
			return line, nil
		}
	}
	usual := p.usual[system]
	if usual == nil {
		usual = p.usual[""]
	}
	for _, name := range usual {
		if path, err := find(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, fmt.Errorf("%w: set $%s", errNoProgram, p.vars[0])
}

// Programs runs programs of the operator.
type Programs struct {
	screen     widget.Screen
	env        func(name string) string
	interrupts *Interrupts
	clipboard  clipboard
	Stops      Stops
}

// New returns the programs of an environment. interrupts may be nil.
func New(screen widget.Screen, env func(name string) string, interrupts *Interrupts) *Programs {
	return &Programs{screen: screen, env: env, interrupts: interrupts, clipboard: clipboardFor(runtime.GOOS, env, exec.LookPath)}
}

// lend leaves interrupts and stopping to another program, until back is called.
func (x *Programs) lend() (back func()) {
	interrupts, stops := x.interrupts.lend(), x.Stops.lend()
	return func() { interrupts(); stops() }
}

// Getenv returns a variable of the operator's environment.
func (x *Programs) Getenv(name string) string { return x.env(name) }

// Home replaces a leading ~/ by the home directory of the user.
func (x *Programs) Home(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && x.env("HOME") != "" {
		return filepath.Join(x.env("HOME"), rest)
	}
	return path
}

// Source is what the screen shows: it is copied, exported and opened in programs.
type Source struct {
	*cells.Env
	Snap   *host.Snapshot
	Log    func() eventlog.Records
	Stream *stream.Stream
	Detail *detail.Pane
	Table  func() *table.Table // the one that is shown; nil: none is
	// Word returns the word for a server on the command line of another process; known is false if
	// there is none.
	Word func(server string) (word string, known bool)
}

// Outside combines programs and exports with what they get.
type Outside struct {
	*Programs
	Exports Exports
	from    Source
}

// NewOutside returns the programs of [New], and no running export.
func NewOutside(screen widget.Screen, env func(name string) string, interrupts *Interrupts, from Source) Outside {
	return Outside{New(screen, env, interrupts), NewExports(screen), from}
}

// show returns a command that shows a payload in a program, which ends with this one.
func (x *Programs) show(p Program, payload []byte) tea.Cmd {
	line, err := p.line(runtime.GOOS, x.env, exec.LookPath)
	if err != nil {
		x.screen.Fail("cannot open the payload", err)
		return nil
	}
	cmd := exec.CommandContext(x.screen.Context(), line[0], line[1:]...)
	return tea.Exec(&fileProgram{guest{cmd, x.lend}, Readable(payload)}, func(err error) tea.Msg {
		return widget.Then(func() tea.Cmd {
			if err != nil {
				x.screen.Fail("the program that showed the payload", err)
			}
			return tea.ClearScreen // the program may have left output on it
		})
	})
}

// fileProgram runs a program on a temporary file that only the user can read. It implements
// [tea.ExecCommand].
type fileProgram struct {
	guest
	text []byte
}

// Run writes the file, runs the program and removes the file.
func (r *fileProgram) Run() error {
	file, err := writeTemp(r.text)
	if err != nil {
		return err
	}
	r.Args = append(r.Args, file)
	return errors.Join(r.guest.Run(), os.Remove(file))
}

// Readable returns a payload as text that cannot control a terminal: JSON is indented and escaped
// except for letters, anything else is escaped as a whole.
func Readable(raw []byte) []byte {
	if !json.Valid(raw) {
		var b bytes.Buffer
		for _, l := range trust.Escaped(trust.Untrusted(string(raw)), 1<<16) {
			b.WriteString(l.Plain() + "\n")
		}
		return b.Bytes()
	}
	var b bytes.Buffer
	if json.Indent(&b, trust.CompactJSON(raw), "", "  ") != nil {
		return trust.CompactJSON(raw)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// writeTemp writes a temporary file that only the user can read, and returns its path.
func writeTemp(text []byte) (string, error) {
	f, err := os.CreateTemp("", "eventdeck-*.json")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
