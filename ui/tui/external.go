package tui

import (
	"errors"
	"os"
	"os/exec"
	"runtime"

	"eventdeck/host/schema"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/widget"
)

// editedMsg: the operator's editor has ended.
type editedMsg struct {
	text string
	err  error
	then func(text string) tea.Cmd
}

// editText has the operator's editor change a text. The file is readable by the
// operator alone and is gone afterwards.
func (a *app) editText(text string, then func(text string) tea.Cmd) tea.Cmd {
	words, err := editorProgram.words(runtime.GOOS, a.env, exec.LookPath)
	var file string
	if err == nil {
		file, err = writeTemp([]byte(text))
	}
	if err != nil {
		a.Fail("cannot edit", err)
		return nil
	}
	cmd := exec.CommandContext(a.ctx, words[0], append(words[1:], file)...)
	return tea.Exec(&guest{cmd, a.interrupts.lend}, func(err error) tea.Msg { return readBack(file, err, then) })
}

// readBack reads and removes what the editor left.
func readBack(file string, err error, then func(text string) tea.Cmd) editedMsg {
	msg := editedMsg{then: then, err: err}
	if err == nil {
		var raw []byte
		raw, msg.err = os.ReadFile(file)
		msg.text = string(raw)
	}
	msg.err = errors.Join(msg.err, os.Remove(file))
	return msg
}

// edited takes what the editor left.
func (a *app) edited(msg editedMsg) tea.Cmd {
	if msg.err != nil {
		a.Fail("the editor", msg.err)
		return tea.ClearScreen
	}
	return tea.Batch(tea.ClearScreen, msg.then(msg.text))
}

// editJSON edits the arguments of the form as JSON.
func (f *subForm) editJSON() tea.Cmd {
	a := f.app

	text := string(f.model.JSON())
	if text == "{}" {
		text = string(schema.Skeleton(f.typ))
	}
	return a.editText(indentJSON(text), f.takeOver)
}

// takeOver fills the form in with arguments that were edited as JSON.
func (f *subForm) takeOver(text string) tea.Cmd {
	a := f.app

	if a.dialog != widget.Dialog(f) {
		return nil
	}
	if err := f.model.Load([]byte(text)); err != nil {
		f.banner = banner{text: err.Error(), next: "nothing was taken over; ctrl+e tries again"}
		return nil
	}
	f.banner, f.edited = banner{}, true
	f.enter(f.items()[0])
	f.validate()
	return f.check()
}
