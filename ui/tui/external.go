package tui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/config"
)

// editedMsg: the operator's editor has ended.
type editedMsg struct {
	text string
	err  error
	then func(a *app, text string) tea.Cmd
}

// errNoEditor: neither VISUAL nor EDITOR names a program.
var errNoEditor = errors.New("set VISUAL or EDITOR to a program that edits files")

// editText has the operator's editor change a text. The file is readable by the
// operator alone and is gone afterwards.
func (a *app) editText(name, text string, then func(a *app, text string) tea.Cmd) tea.Cmd {
	cmd, dir, err := editorFor(a.env, name, text)
	if err != nil {
		a.fail("cannot edit", err)
		return nil
	}
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		msg := editedMsg{then: then, err: err}
		if err == nil {
			var raw []byte
			raw, msg.err = os.ReadFile(filepath.Join(dir, name))
			msg.text = string(raw)
		}
		msg.err = errors.Join(msg.err, os.RemoveAll(dir))
		return msg
	})
}

// editorFor writes the text into a file and returns the command that edits it.
func editorFor(env func(string) string, name, text string) (cmd *exec.Cmd, dir string, err error) {
	line := env("VISUAL")
	if line == "" {
		line = env("EDITOR")
	}
	if line == "" {
		return nil, "", errNoEditor
	}
	words, err := config.SplitCommand(line)
	if err != nil {
		return nil, "", fmt.Errorf("the editor %q: %w", line, err)
	}
	if dir, err = os.MkdirTemp("", "eventdeck-edit-"); err != nil {
		return nil, "", err
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(dir))
	}
	return exec.Command(words[0], append(words[1:], path)...), dir, nil
}

// edited takes what the editor left.
func (a *app) edited(msg editedMsg) tea.Cmd {
	if msg.err != nil {
		a.fail("the editor", msg.err)
		return nil
	}
	return msg.then(a, msg.text)
}

// editJSON edits the arguments of the form as JSON.
func (f *subForm) editJSON(a *app) tea.Cmd {
	text := string(f.model.JSON())
	if text == "{}" {
		text = string(a.api.Skeleton(f.typ))
	}
	return a.editText("arguments.json", indentJSON(text), func(a *app, text string) tea.Cmd {
		if a.dialog != dialog(f) {
			return nil
		}
		if err := f.model.Load([]byte(text)); err != nil {
			f.banner = banner{text: err.Error(), next: "nothing was taken over; ctrl+e tries again"}
			return nil
		}
		f.banner, f.edited = banner{}, true
		f.enter(f.items()[0])
		f.validate()
		return f.check(a)
	})
}
