// Package palette has two dialogs: the command palette, and the help with the keys that work in a
// pane.
package palette

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// Lines runs and completes typed commands.
type Lines struct {
	Command  func(line string) *Command // the command of a line; nil if it has none
	Complete func(line string) []string // whole lines that a typed line can be completed to
	Run      func(line string) (tea.Cmd, error)
	Past     []string // earlier lines, the newest first
}

// Command describes a typed command.
type Command struct {
	Name, Usage, Title string
}

// Palette finds everything by name: actions that work now, places, saved views, marks, themes. A
// line that begins with the name of a command runs that command.
type Palette struct {
	env    *cells.Env
	screen widget.Screen
	typing Lines
	widget.Picker
	Problem string   // why the line was not run
	lines   []string // completions of the typed command
	row     int      // the chosen completion, from 1; 0 is the typed line
	back    int      // the shown line of typing.Past, from 1; 0 is none
}

// Open shows the palette with the entries that it can find, and the beginning of a line.
func Open(env *cells.Env, screen widget.Screen, typing Lines, all []widget.Pick, line string) {
	d := &Palette{env: env, screen: screen, typing: typing, Picker: widget.NewPicker(all)}
	screen.Show(d)
	if line != "" {
		d.Field.Set(line)
		d.typed()
	}
}

// Title implements [widget.Dialog].
func (d *Palette) Title() string { return "Commands" }

// Size implements [widget.Dialog].
func (d *Palette) Size(sw, sh int) (int, int) {
	return min(90, max(40, sw*3/4)), min(22, sh-4)
}

// commanding returns the command of the line, nil if it has none.
func (d *Palette) commanding() *Command {
	line := strings.TrimLeft(d.Field.Text(), " ")
	if c := d.typing.Command(line); c != nil && (!strings.HasPrefix(c.Name, strings.TrimSpace(line)) || strings.Contains(line, " ") || len(d.Found) == 0) {
		return c
	}
	return nil
}

// Draw implements [widget.Dialog].
func (d *Palette) Draw(c *cells.Canvas, h int) {
	d.DrawField(c, ":", h-2)
	cmd := d.commanding()
	switch {
	case d.Problem != "":
		h -= d.drawProblem(c) - 1
	case cmd != nil:
		c.Put(themes.Dim, " "+cmd.Name+" ")
		c.Put(themes.Key, cmd.Usage+"  ")
		c.Put(themes.Dim, cmd.Title)
	case len(d.Found) == 0:
		c.Put(themes.Dim, " nothing has this name; ctrl+u clears the line")
	default:
		c.Put(themes.Dim, " "+cells.Count(len(d.Found), "thing")+" to do or to go to")
	}
	c.End()
	if cmd != nil {
		d.drawLines(c, h-2)
		return
	}
	d.DrawList(d.env.Glyphs, c, h-2, func(c *cells.Canvas, x *widget.Pick) {
		c.Safe(themes.Plain, x.Text.Clip(max(0, c.Room-len(x.Kind)-len(x.Keys)-4)))
		end := x.Kind + " "
		if x.Keys != "" {
			end = x.Keys + "  " + end
		}
		c.Right(themes.Dim, end)
	})
}

// problemLines bounds the lines of a problem.
const problemLines = 4

// drawProblem draws why the line was not run, and returns the number of lines. It does not end the
// last one.
func (d *Palette) drawProblem(c *cells.Canvas) int {
	lines := cells.Wrap(d.Problem, c.Width-2, problemLines)
	for i, l := range lines {
		if i > 0 {
			c.End()
		}
		c.Put(themes.Bad, " ")
		c.Safe(themes.Bad, l)
	}
	return max(1, len(lines))
}

// drawLines draws the completions of the command.
func (d *Palette) drawLines(c *cells.Canvas, h int) {
	top := max(0, d.row-h)
	for i := top; i < len(d.lines) && i < top+h; i++ {
		c.Mark(i == d.row-1, d.env.Glyphs.Cursor)
		c.Safe(themes.Plain, cells.Sanitize(d.lines[i]).Clip(c.Room))
		c.End()
	}
}

// Key implements [widget.Dialog].
func (d *Palette) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "esc":
		d.screen.Show(nil)
	case name == "enter":
		return d.enter()
	case name == "tab":
		d.complete()
	case name == "up" && (d.Field.Text() == "" || d.back > 0):
		d.recall(1)
	case name == "down" && d.back > 0:
		d.recall(-1)
	case d.commanding() != nil && (name == "down" || name == "ctrl+n"):
		d.row = min(d.row+1, len(d.lines))
	case d.commanding() != nil && (name == "up" || name == "ctrl+p"):
		d.row = max(d.row-1, 0)
	case d.Picker.Key(k):
		d.back = 0
		d.typed()
	}
	return nil
}

// typed is called after a change of the line.
func (d *Palette) typed() {
	d.Problem, d.row = "", 0
	d.Offer()
}

// Offer lists the completions of the line. It is called again when there may be more.
func (d *Palette) Offer() {
	d.lines = d.typing.Complete(d.Field.Text())
	d.row = min(d.row, len(d.lines))
}

// recall shows an earlier command.
func (d *Palette) recall(step int) {
	d.back = max(0, min(d.back+step, len(d.typing.Past)))
	text := ""
	if d.back > 0 {
		text = d.typing.Past[d.back-1]
	}
	d.Field.Set(text)
	d.Search()
	d.typed()
}

// complete takes the chosen completion, else the first one, else the chosen command.
func (d *Palette) complete() {
	text := ""
	switch cmd := d.commanding(); {
	case cmd != nil && d.row > 0:
		text = d.lines[d.row-1]
	case cmd != nil && len(d.lines) > 0:
		text = d.lines[0]
	case cmd == nil && d.Chosen() != nil && d.Chosen().Kind == "command":
		d.Chosen().Run()
		return
	default:
		return
	}
	if !strings.HasSuffix(text, "=") {
		text += " "
	}
	d.Field.Set(text)
	d.Search()
	d.typed()
}

func (d *Palette) enter() tea.Cmd {
	line := strings.TrimSpace(d.Field.Text())
	if d.row > 0 && d.row <= len(d.lines) {
		line = d.lines[d.row-1]
	}
	if line == "" && d.At == 0 { // nothing was typed, and no row was chosen
		d.screen.Show(nil)
		return nil
	}
	if x := d.Chosen(); d.commanding() == nil && x != nil {
		d.screen.Show(nil)
		return x.Run()
	}
	d.screen.Show(nil)
	cmd, err := d.typing.Run(line)
	if err != nil {
		d.Problem = err.Error()
		d.screen.Show(d)
		return nil
	}
	return cmd
}

// Paste implements [widget.Dialog].
func (d *Palette) Paste(s string) tea.Cmd {
	d.Insert(s)
	d.typed()
	return nil
}

// Hints implements [widget.Dialog].
func (d *Palette) Hints() []string {
	return []string{"enter", "do it", "tab", "complete", "up", "history", "esc", "back"}
}
