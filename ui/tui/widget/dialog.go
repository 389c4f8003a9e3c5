// Package widget has the parts of dialogs: text fields, prompts, lists to pick from. A [Screen]
// shows them.
package widget

import (
	"math"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Dialog is a box drawn over the panes, which has the focus while it is shown. Its methods are
// called on the event loop and do no I/O.
type Dialog interface {
	Title() string
	// Size returns the width and height in cells that the dialog wants inside its frame, on a
	// screen of w by h cells.
	Size(w, h int) (int, int)
	// Draw writes at most h rows of the width of the canvas.
	Draw(c *cells.Canvas, h int)
	Key(k tea.KeyPressMsg) tea.Cmd
	// Hints returns keys, each followed by what it does.
	Hints() []string
}

// Paster is a dialog that accepts pasted text; other dialogs ignore it.
type Paster interface {
	Paste(text string) tea.Cmd
}

// Then is the second half of a command: a message whose function is called on the event loop and
// may change the state of the screen. It returns the next command or nil.
type Then func() tea.Cmd

// Done is the message that a request to the host has ended.
type Done struct {
	What  string // what was done or tried, for the status line; "" shows nothing
	Err   error  // nil: it succeeded
	From  Asker  // the dialog that made the request, nil for none; it closes on success
	After func() // called on the event loop on success; may be nil
}

// Asker is a dialog that waits for an answer of the host.
type Asker interface {
	Dialog
	Answered()           // called when the host has answered
	ShowError(err error) // called after Answered if the request failed
}

// Worker is a dialog that draws a spinner while it is busy.
type Worker interface {
	Dialog
	Busy() bool
}

// Clicker is a dialog whose rows can be clicked. x and y are cells inside the frame, from 0.
type Clicker interface {
	Click(x, y int) tea.Cmd
}

// Confirm is a dialog that offers choices. Esc, q and n close it without a choice, unless they are
// the key of one.
type Confirm struct {
	Screen    Screen
	Head      string
	Lines     []string
	Choices   []Choice
	Cancelled func() // called when the dialog is closed without a choice; may be nil
}

// Choice is an answer to a question, with the key that chooses it.
type Choice struct {
	Key, Title string
	Run        func() tea.Cmd
}

// Question is a dialog that accepts an answer only while all of it is visible.
type Question interface {
	Dialog
	// Rows returns the number of rows that the dialog needs at a width of w cells inside its frame.
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

// choiceIndent is the column of the title of a choice, after its key.
const choiceIndent = 7

// Rows implements [Question]. Lines that are longer than w are wrapped.
func (d *Confirm) Rows(w int) int {
	n := 1 // the blank row between the lines and the choices
	for _, s := range d.Lines {
		n += len(wrapped(s, w-2))
	}
	for _, ch := range d.all() {
		n += len(wrapped(ch.Title, w-choiceIndent-1))
	}
	return n
}

// wrapped returns a text in lines of at most w cells.
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

// all returns the choices, and a choice for esc unless there is one.
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
func (d *Confirm) Hints() []string {
	keys := ""
	for _, ch := range d.Choices {
		if ch.Key != "esc" {
			keys += " " + ch.Key
		}
	}
	if keys == "" {
		return []string{"esc", "back"}
	}
	return []string{keys[1:], "choose", "esc", "back"}
}
