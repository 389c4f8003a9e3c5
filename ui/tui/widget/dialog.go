// Package widget has what dialogs are made of: text fields, prompts, lists to pick from, and
// [Screen], which shows them and runs what they ask for beside the event loop.
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

// Dialog is a box over the panes that has all keys.
type Dialog interface {
	Title() string
	// Size returns the cells it would like to have inside its frame.
	Size(w, h int) (int, int)
	Draw(c *cells.Canvas, h int)
	Key(k tea.KeyPressMsg) tea.Cmd
	Hints() []string // key, word, key, word …
}

// Paster is a dialog that takes pasted text; any other one ignores it.
type Paster interface {
	Paste(text string) tea.Cmd
}

// Screen is what shows dialogs. Its verbs are called on the event loop only, but for
// what [Screen.Do] runs.
type Screen interface {
	// Show shows a dialog in place of the one that is shown, or none for nil.
	Show(d Dialog)
	// Shown returns the dialog that is shown, nil for none.
	Shown() Dialog
	// Tell says what was done, Fail what was not, until the next key.
	Tell(text string)
	Fail(what string, err error)
	// Do runs fn beside the program and hands on what it returns. It ends with the
	// program, which waits for it.
	Do(fn func(context.Context) tea.Msg) tea.Cmd
}

// Then is a message that is run on the event loop: what something that took its time
// has found. It returns what is to be done next, or nil.
type Then func() tea.Cmd

// Done is a message: something that was asked of the host is done.
type Done struct {
	What  string // that was done, or tried; "" is not told
	Err   error
	From  Asker  // the dialog that asked, nil if none did; it closes when nothing failed
	After func() // runs on the event loop when nothing failed, if it is not nil
}

// Asker is a dialog that waits for an answer of the host.
type Asker interface {
	Dialog
	Rest()            // the answer is there
	Refuse(err error) // it is no
}

// Worker is a dialog that shows the sign of work that goes on, while it is busy.
type Worker interface {
	Dialog
	Busy() bool
}

// Clicker is a dialog whose rows can be clicked. x and y count from the first
// cell inside its frame.
type Clicker interface {
	Click(x, y int) tea.Cmd
}

// Confirm asks the operator to choose; esc chooses nothing.
type Confirm struct {
	Screen  Screen
	Head    string
	Lines   []string
	Choices []Choice
	Gone    func() // it was closed without a choice
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

// choiceIndent is how far the words of a choice stand from the left: behind its key.
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

// all are the choices and what esc does.
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
		if d.Gone != nil {
			d.Gone()
		}
	}
	return nil
}

// Hints implements [Dialog].
func (d *Confirm) Hints() []string { return []string{"esc", "back"} }
