package tui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/detail"
)

// readerActions open payloads in programs of the operator.
func readerActions() []action {
	return grouped("Event",
		action{id: "pager", title: "read the payload in $PAGER", keys: []string{"o"}, panes: onEvent, when: (*app).onPayload, run: func(a *app) tea.Cmd { return a.openIn(pager) }},
		action{id: "editor", title: "open the payload in $EDITOR", keys: []string{"O"}, panes: onEvent, when: (*app).onPayload, run: func(a *app) tea.Cmd { return a.openIn(editorProgram) }},
	)
}

// program is a program of the operator: the first variable that is set names
// it, else the first of the usual ones.
type program struct {
	vars  []string
	usual map[string][]string // by system; "" is every other one
}

var (
	pager         = program{[]string{"PAGER"}, map[string][]string{"windows": {"more"}, "": {"less", "more"}}}
	editorProgram = program{[]string{"VISUAL", "EDITOR"}, map[string][]string{"windows": {"notepad"}, "": {"sensible-editor", "nano", "vi"}}}
)

// errNoProgram: no program of that kind is there.
var errNoProgram = errors.New("no such program found")

// words returns the command line of the program. A variable may have arguments;
// no shell reads it.
func (p program) words(system string, env func(string) string, find func(string) (string, error)) ([]string, error) {
	for _, v := range p.vars {
		words, err := splitWords(env(v))
		if system == "windows" { // where a backslash parts folders
			words, err = strings.Fields(env(v)), nil
		}
		if err != nil {
			return nil, fmt.Errorf("$%s: %w", v, err)
		}
		if len(words) > 0 {
			return words, nil
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

// readMsg: the program in which a payload was read has ended.
type readMsg struct{ err error }

// openIn shows the chosen payload in a program.
func (a *app) openIn(p program) tea.Cmd {
	r, ok := a.detail.Payload()
	if !ok {
		return nil
	}
	words, err := p.words(runtime.GOOS, a.env, exec.LookPath)
	if err != nil {
		a.Fail("cannot open the payload", err)
		return nil
	}
	cmd := exec.CommandContext(a.ctx, words[0], words[1:]...)
	return tea.Exec(&reading{guest{cmd, a.interrupts.lend}, readable(&r)}, func(err error) tea.Msg { return readMsg{err} })
}

// reading runs a program on a file of its own, which only the user can read and
// which is gone when the program ends. It implements [tea.ExecCommand].
type reading struct {
	guest
	text []byte
}

// Run writes the file, runs the program and removes the file.
func (r *reading) Run() error {
	file, err := writeTemp(r.text)
	if err != nil {
		return err
	}
	r.Args = append(r.Args, file)
	return errors.Join(r.guest.Run(), os.Remove(file))
}

// read takes the terminal back from the program.
func (a *app) read(msg readMsg) tea.Cmd {
	if msg.err != nil {
		a.Fail("the program that showed the payload", msg.err)
	}
	// The terminal may show what the program left of itself.
	return tea.ClearScreen
}

// readable is the payload as text in which nothing can act: JSON indented, with
// everything escaped that is not a letter; anything else escaped as a whole.
func readable(r *event.Record) []byte {
	raw := detail.PayloadOf(r)
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

// writeTemp writes a file that only the user can read.
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
