package tui

import (
	"errors"
	"os"
	"os/exec"
	"runtime"

	tea "charm.land/bubbletea/v2"
)

// editedMsg: the operator's editor has ended.
type editedMsg struct {
	text string
	err  error
	then func(text string) tea.Cmd
}

// EditText has the operator's editor change a text. The file is readable by the
// operator alone and is gone afterwards.
func (a *app) EditText(text string, then func(text string) tea.Cmd) tea.Cmd {
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
