// Package widget has the parts of dialogs: text fields, prompts, lists to pick from. [Screen]
// is the screen that shows them.
package widget

import (
	"context"
	"math"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Dialog is a box over the panes. While it is shown it has the focus. Its methods are called on
// the event loop and do no I/O.
type Dialog interface {
	Title() string
	// Size returns the width and height in cells that it wants inside its frame, on a screen of
	// w by h cells.
	Size(w, h int) (int, int)
	// Draw writes at most h rows of the width of the canvas.
	Draw(c *cells.Canvas, h int)
	Key(k tea.KeyPressMsg) tea.Cmd
	// Hints are keys, each with what it does behind it.
	Hints() []string
}

// Paster is a dialog that takes pasted text; any other one ignores it.
type Paster interface {
	Paste(text string) tea.Cmd
}

// Screen is the screen as its parts see it. Its methods are for the event loop.
type Screen interface {
	// Show shows a dialog in place of the one that is shown, or none for nil.
	Show(d Dialog)
	// Shown returns the dialog that is shown, nil for none.
	Shown() Dialog
	// Tell shows a text on the status line until the next key, Fail what failed and why.
	Tell(text string)
	Fail(what string, err error)
	// Do returns a command that runs fn in the background and sends what fn returns. The
	// context ends with the program, which waits for fn.
	Do(fn func(context.Context) tea.Msg) tea.Cmd
}

// Keyed is a screen that knows the operator's keys.
type Keyed interface {
	Screen
	// KeyOf returns the operator's key of an action, for texts that name it.
	KeyOf(action string) string
}

// Then is a message whose function the screen calls on the event loop: the second half of a
// command, which may change the state of the screen. It returns the next command or nil.
type Then func() tea.Cmd

// Done is the message that something which was asked of the host has ended.
type Done struct {
	What  string // what was done, or tried; "" is not told
	Err   error  // nil: it was done
	From  Asker  // the dialog that asked, nil for none; it closes if Err is nil
	After func() // is called on the event loop if Err is nil; nil: nothing is
}

// Asker is a dialog that waits for an answer of the host.
type Asker interface {
	Dialog
	Answered()           // is called when the answer is there
	ShowError(err error) // is called with the error if the answer is one
}

// Worker is a dialog that draws a spinner while it is busy.
type Worker interface {
	Dialog
	Busy() bool
}

// Clicker is a dialog whose rows can be clicked. x and y are cells, counted from the first one
// inside the frame.
type Clicker interface {
	Click(x, y int) tea.Cmd
}

// Confirm is a dialog that asks for one of some choices. Esc, q and n close it without one,
// unless they are the key of a choice.
type Confirm struct {
	Screen    Screen
	Head      string
	Lines     []string
	Choices   []Choice
	Cancelled func() // is called when it is closed without a choice; nil: nothing is
}

// Choice is an answer to a question, by the key that gives it.
type Choice struct {
	Key, Title string
	Run        func() tea.Cmd
}

// Question is a dialog that is answered only while it is shown in full.
type Question interface {
	Dialog
	// Rows is how many rows it takes in w cells inside of its frame.
	Rows(w int) int
}

// Title implements [Dialog].
func (d *Confirm) Title() string { return d.Head }

// Size implements [Dialog].
func (d *Confirm) Size(sw, _ int) (int, int) {
	w := 44
	for _, s := range d.Lines {
		w = max(w, cells.Sanitize(s).Width+2)
	}
	for _, ch := range d.Choices {
		w = max(w, cells.Sanitize(ch.Title).Width+choiceIndent+1)
	}
	w = min(w, max(1, sw-4))
	return w, d.Rows(w) + 1
}

// choiceIndent is the column of the title of a choice, behind its key.
const choiceIndent = 7

// Rows implements [Question]. Lines that are longer than w are wrapped.
func (d *Confirm) Rows(w int) int {
	n := 1 // a blank one between the lines and the choices
	for _, s := range d.Lines {
		n += len(wrapped(s, w-2))
	}
	for _, ch := range d.all() {
		n += len(wrapped(ch.Title, w-choiceIndent-1))
	}
	return n
}

// wrapped is a text in lines of w cells.
func wrapped(s string, w int) []trust.Rendered { return cells.Wrap(s, w, math.MaxInt) }

// Draw implements [Dialog].
func (d *Confirm) Draw(c *cells.Canvas, _ int) {
	for _, s := range d.Lines {
		c.Lines(themes.Plain, " ", themes.Plain, wrapped(s, c.Width-2))
	}
	c.End()
	for _, ch := range d.all() {
		for i, line := range wrapped(ch.Title, c.Width-choiceIndent-1) {
			key := ""
			if i == 0 {
				key = ch.Key
			}
			c.Put(themes.Key, " "+cells.Pad(key, choiceIndent-2))
			c.Safe(themes.Plain, line)
			c.End()
		}
	}
}

// all are the choices and, unless esc is the key of one, what esc does.
func (d *Confirm) all() []Choice {
	if slices.ContainsFunc(d.Choices, func(c Choice) bool { return c.Key == "esc" }) {
		return d.Choices
	}
	return append(d.Choices[:len(d.Choices):len(d.Choices)], Choice{Key: "esc", Title: "go back, nothing happens"})
}

// Key implements [Dialog].
func (d *Confirm) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.Screen
	for _, ch := range d.Choices {
		if ch.Key == name {
			a.Show(nil)
			return ch.Run()
		}
	}
	if name == "esc" || name == "q" || name == "n" {
		a.Show(nil)
		if d.Cancelled != nil {
			d.Cancelled()
		}
	}
	return nil
}

// Hints implements [Dialog].
func (d *Confirm) Hints() []string { return []string{"esc", "back"} }
