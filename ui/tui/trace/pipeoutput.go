// Runs a command of the operator with events as its input and shows its output as
// untrusted text.

package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// Bounds of a command.
const (
	timeMax   = 30 * time.Second
	outputMax = 1 << 20 // bytes of what it writes
	waitDelay = time.Second
)

// Pipe is a command that is run on selected events.
type Pipe struct {
	Again func(line, problem string) // asks for the line again, so that the operator can change it
	Note  string                     // shown above the output; "": nothing
	// RunPipe runs a command to its end: [RunPipe], except in tests that type random keys.
	Run func(ctx context.Context, args []string, input []byte) ([]byte, error)
}

// ErrNoCommand says that a line has no command.
var ErrNoCommand = errors.New("a command is missing, as in jq .data")

// PipeArgs splits a line into words, without a shell. A word that is only a variable, such as $PAGER, is
// replaced by the words of its value.
//
// Errors: [ErrNoCommand]; a quote that is not closed.
func PipeArgs(line string, getenv func(string) string) ([]string, error) {
	typed, err := evidence.Split(line)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, w := range typed {
		name, ok := strings.CutPrefix(w, "$")
		if !ok || name == "" {
			out = append(out, w)
			continue
		}
		inner, err := evidence.Split(getenv(name))
		if err != nil {
			return nil, fmt.Errorf("$%s: %w", name, err)
		}
		out = append(out, inner...)
	}
	if len(out) == 0 {
		return nil, ErrNoCommand
	}
	return out, nil
}

// ShellSign returns the first character of a line, outside of quotes, that has a meaning to a shell
// but not to [PipeArgs], such as ; or >. It returns "" if there is none.
func ShellSign(line string) string {
	quote := rune(0)
	for i, c := range line {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.ContainsRune(";|<>&`", c), c == '$' && strings.HasPrefix(line[i:], "$("):
			return string(c)
		}
	}
	return ""
}

// OpenPipe opens a dialog and returns a command that runs args on the bytes of input and then shows the
// output. line is the typed line of args. The command is killed when the dialog is closed, after
// 30 s, and at 1 MiB of output. input is called in the background.
func OpenPipe(env *Env, pipe Pipe, line string, args []string, input func(context.Context) ([]byte, error)) tea.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), timeMax)
	d := &output{env: env, pipe: pipe, line: line, stop: cancel, began: env.Now()}
	env.Screen.Show(d)
	return env.Screen.Do(func(run context.Context) tea.Msg {
		end := context.AfterFunc(run, cancel)
		defer end()
		defer cancel()
		var text []byte
		in, err := input(ctx)
		if err == nil {
			text, err = pipe.Run(ctx, args, in)
		}
		return widget.Then(func() tea.Cmd {
			d.ended(text, err)
			return nil
		})
	})
}

// RunPipe runs a command to its end and returns its output, at most 1 MiB of it, also with an error.
func RunPipe(ctx context.Context, args []string, input []byte) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &bounded{full: cancel}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), out, out
	cmd.WaitDelay = waitDelay
	alone(cmd)
	err := cmd.Run()
	switch {
	case out.over:
		err = fmt.Errorf("killed: it wrote more than %d bytes", outputMax)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("killed after %v", timeMax)
	case errors.Is(err, exec.ErrNotFound):
		err = fmt.Errorf("there is no command %q", args[0])
	}
	return out.kept, err
}

// bounded keeps the beginning of what is written to it. It must not implement [io.ReaderFrom], which
// would bypass the bound.
type bounded struct {
	kept []byte
	over bool
	full func() // called once at the bound
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), outputMax-len(b.kept))
	b.kept = append(b.kept, p[:n]...)
	if n < len(p) && !b.over {
		b.over = true
		b.full()
	}
	return len(p), nil
}

// output is the dialog.
type output struct {
	env   *Env
	pipe  Pipe
	line  string
	stop  context.CancelFunc
	began time.Time
	done  bool
	err   error
	text  []byte

	lines []trust.Rendered
	width int // of lines, in cells
	sight widget.Scroll
}

// ended shows the output of the command. If it failed without output, its line is asked for again.
func (d *output) ended(text []byte, err error) {
	d.done, d.text, d.err, d.width = true, text, err, 0
	if d.env.Screen.Shown() == widget.Dialog(d) && err != nil && len(bytes.TrimSpace(text)) == 0 {
		d.env.Screen.Show(nil)
		d.pipe.Again(d.line, err.Error())
	}
}

func (d *output) Title() string { return "Output of " + cells.Sanitize(d.line).Plain() }

func (d *output) Size(w, h int) (int, int) { return max(1, w-4), max(1, h-6) }

func (d *output) Draw(c *cells.Canvas, h int) {
	switch {
	case !d.done:
		c.Put(themes.Dim, " running "+cells.Span(d.env.Now().Sub(d.began))+"; esc kills it")
	case d.err != nil:
		c.Safe(themes.Bad, cells.Sanitize(" failed: "+d.err.Error()).Clip(c.Room))
	default:
		c.Put(themes.Good, " done")
		c.Put(themes.Dim, ", "+cells.Count(len(d.text), "byte")+"; text of the command, not trusted")
	}
	c.End()
	if d.pipe.Note != "" {
		c.Put(themes.Warn, " "+d.pipe.Note)
		c.End()
		h--
	}
	if d.width != c.Room {
		d.width = c.Room
		d.lines = trust.Block(trust.Untrusted(string(d.text)), max(1, d.width-2))
	}
	first, end := d.sight.Visible(len(d.lines), max(1, h-1))
	for _, l := range d.lines[first:end] {
		c.Put(themes.Gutter, d.env.Glyphs.Gutter)
		c.Safe(themes.Plain, l.Clip(c.Room))
		c.End()
	}
}

func (d *output) Key(k tea.KeyPressMsg) tea.Cmd {
	switch name := k.String(); name {
	case "esc", "q":
		d.stop()
		d.env.Screen.Show(nil)
	case "e", "|":
		if d.done {
			d.env.Screen.Show(nil)
			d.pipe.Again(d.line, "")
		}
	default:
		d.sight.Key(name)
	}
	return nil
}

func (d *output) Hints() []string {
	if !d.done {
		return []string{"esc", "kill it"}
	}
	return []string{"j k", "move", "e", "change the line", "esc", "back"}
}
