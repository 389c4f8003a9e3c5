package external

import (
	"errors"
	"os"
	"os/exec"
	"runtime"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/widget"
)

// EditText returns a command that opens a text in the operator's editor and passes the result to
// then. Only the operator can read the file, which is removed afterwards. The editor ends with this
// program.
func (x *Programs) EditText(text string, then func(text string) tea.Cmd) tea.Cmd {
	line, err := Editor.line(runtime.GOOS, x.env, exec.LookPath)
	var file string
	if err == nil {
		file, err = writeTemp([]byte(text))
	}
	if err != nil {
		x.screen.Fail("cannot edit", err)
		return nil
	}
	cmd := exec.CommandContext(x.screen.Context(), line[0], append(line[1:], file)...)
	return tea.Exec(&guest{cmd, x.lend}, func(err error) tea.Msg { return x.readBack(file, err, then) })
}

// readBack reads and removes the file of the editor.
func (x *Programs) readBack(file string, err error, then func(text string) tea.Cmd) widget.Then {
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	err = errors.Join(err, os.Remove(file))
	return func() tea.Cmd {
		if err != nil {
			x.screen.Fail("the editor", err)
			return tea.ClearScreen
		}
		return tea.Batch(tea.ClearScreen, then(string(text)))
	}
}
