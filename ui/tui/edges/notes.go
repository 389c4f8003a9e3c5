package edges

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
)

// How long the status line tells what was done and what failed, and for how long
// what was done can be undone.
const (
	noteFor   = 5 * time.Second
	failedFor = 15 * time.Second
	undoFor   = 10 * time.Second
	// LateFor is how long after that the key of undoing says that it is too late, and does
	// nothing of what it means otherwise.
	LateFor = time.Minute
)

// Note is a line for the operator: what was done, or what failed. The next key
// takes it away, and so does time.
type Note struct {
	Text string
	Bad  bool
	At   time.Time
}

// failedWord begins what failed, for those to whom its colour says nothing.
const failedWord = "failed "

// Words are the text of the note, with a word before it where it tells what failed.
func (n *Note) Words() string {
	if n.Bad {
		return failedWord + n.Text
	}
	return n.Text
}

// Tell tells what was done on the status line.
func (s *Status) Tell(text string) { s.Note = Note{Text: text, At: s.env.Clock()} }

// Hush takes away what is told.
func (s *Status) Hush() { s.Note = Note{} }

// Fail tells on the status line what failed, and why.
func (s *Status) Fail(what string, err error) { s.TellBad(fmt.Sprintf("%s: %v", what, err)) }

// TellFailed tells why something was not done, the cause first: lines are short.
func (s *Status) TellFailed(what string, err error) {
	why := err.Error()
	if words, ok := host.CallbackWords(trust.Unescaped(why)); ok {
		why = words
	}
	if what != "" {
		why += " (" + what + ")"
	}
	s.TellBad(why)
}

// TellBad tells what is wrong.
func (s *Status) TellBad(text string) { s.Note = Note{Text: text, Bad: true, At: s.env.Clock()} }

// Expire takes away what was told for long enough.
func (s *Status) Expire() {
	shown := noteFor
	if s.Note.Bad {
		shown = failedFor
	}
	if now := s.env.Clock(); now.Sub(s.Note.At) >= shown {
		s.Note = Note{}
	}
	if s.undo.left(s.env.Clock()) <= -LateFor {
		s.undo = undo{}
	}
}

// undo is what the newest act that can be undone did, and how to undo it.
type undo struct {
	did   string
	until time.Time
	run   func() tea.Cmd
}

func (u *undo) open() bool { return u.run != nil }

// left is for how long it can be undone.
func (u *undo) left(now time.Time) time.Duration { return u.until.Sub(now) }

// OfferUndo tells what was done, and for how long it can be undone.
func (s *Status) OfferUndo(did string, run func() tea.Cmd) {
	s.Note = Note{}
	s.undo = undo{did: did, until: s.env.Clock().Add(undoFor), run: run}
}

// CanUndo reports whether the newest act can be undone.
func (s *Status) CanUndo() bool { return s.undo.open() && s.undo.left(s.env.Clock()) > 0 }

// Undoing reports whether the key of undoing means what was done last: it can be undone, or
// could be a moment ago.
func (s *Status) Undoing() bool { return s.undo.open() && s.undo.left(s.env.Clock()) > -LateFor }

// UndoHint is the hint of the key that undoes, "" where it is too late.
func (s *Status) UndoHint() string {
	if s.CanUndo() {
		return "undo"
	}
	return ""
}

// UndoLast undoes the newest act, or tells that it is too late.
func (s *Status) UndoLast() tea.Cmd {
	if !s.CanUndo() {
		s.Tell("too late to undo: " + s.undo.did + " more than " + cells.Span(undoFor) + " ago")
		return nil
	}
	run := s.undo.run
	s.undo = undo{}
	return run()
}

// undoWords tell on the status line what can be undone, and for how long.
func (s *Status) undoWords() string {
	left := (s.undo.left(s.env.Clock()) + time.Second - 1).Truncate(time.Second)
	return s.undo.did + "; " + s.env.KeyOf("undo") + " undoes it, " + cells.Span(left) + " left"
}

// Ages reports whether the line changes as time goes by.
func (s *Status) Ages() bool { return s.Note.Text != "" || s.undo.open() }
