package external

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
	"unicode/utf16"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/widget"
)

// clipboardWithin is the timeout of the program that sets the clipboard.
const clipboardWithin = 2 * time.Second

// clipboard is the program that sets the system's clipboard. Over SSH there is none: it would set
// the clipboard of the wrong machine.
type clipboard struct {
	name string
	args []string
}

// clipboardFor finds the program that sets the clipboard; its name is "" if there is none.
func clipboardFor(system string, env func(string) string, find func(string) (string, error)) clipboard {
	if env("SSH_CONNECTION") != "" || env("SSH_TTY") != "" {
		return clipboard{}
	}
	var programs []clipboard
	switch {
	case system == "darwin":
		programs = []clipboard{{name: "pbcopy"}}
	case system == "windows" || env("WSL_DISTRO_NAME") != "":
		programs = []clipboard{{name: "clip.exe"}}
	}
	if env("WAYLAND_DISPLAY") != "" {
		programs = append(programs, clipboard{"wl-copy", []string{"--type", "text/plain"}})
	}
	if env("DISPLAY") != "" {
		programs = append(programs, clipboard{"xclip", []string{"-in", "-selection", "clipboard"}}, clipboard{"xsel", []string{"--input", "--clipboard"}})
	}
	for _, p := range programs {
		if path, err := find(p.name); err == nil {
			return clipboard{path, p.args}
		}
	}
	return clipboard{}
}

// set runs the program without a shell and gives it the text.
func (c clipboard) set(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, clipboardWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.name, c.args...)
	cmd.Stdin = strings.NewReader(text)
	if strings.HasSuffix(c.name, "clip.exe") {
		cmd.Stdin = bytes.NewReader(utf16LE(text))
	}
	// Some of these programs serve the text from the background; without pipes Run does not wait
	// for them.
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = nil, nil, 100*time.Millisecond
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// utf16LE encodes text for clip.exe, which reads UTF-8 in the code page of the console.
func utf16LE(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// SetClipboard returns a command that sets the system's clipboard, nil if there is none. It shows failures
// only, since the terminal's clipboard may have got the text.
func (x *Programs) SetClipboard(text string) tea.Cmd {
	c := x.clipboard
	if c.name == "" {
		return nil
	}
	return x.screen.Do(func(ctx context.Context) tea.Msg {
		err := c.set(ctx, text)
		return widget.Then(func() tea.Cmd {
			if err != nil && !errors.Is(err, context.Canceled) {
				x.screen.Fail("the system's clipboard did not take it, the terminal may have", err)
			}
			return nil
		})
	})
}
