package edges

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/palette"
)

// Times of the status line.
const (
	noteFor   = 5 * time.Second  // how long a note is shown
	failedFor = 15 * time.Second // how long a failure is shown
	undoFor   = 10 * time.Second // how long an action can be undone
	// LateFor is how long, after an action can no longer be undone, the undo key still says so
	// before it gets its other meaning back.
	LateFor = time.Minute
)

// Note is a line for the operator: what was done, or what failed. It is shown until the next key,
// or for some seconds.
type Note struct {
	Text string
	Bad  bool
	At   time.Time
}

// failedWord begins a failure, for operators who do not see its colour.
const failedWord = "failed "

// Words returns the text of the note, with a word before a failure.
func (n *Note) Words() string {
	if n.Bad {
		return failedWord + n.Text
	}
	return n.Text
}

// Tell shows what was done on the status line.
func (s *Status) Tell(text string) { s.Note = Note{Text: text, At: s.env.Clock()} }

// Hush removes the note.
func (s *Status) Hush() { s.Note = Note{} }

// Fail shows what failed, and why.
func (s *Status) Fail(what string, err error) { s.TellBad(fmt.Sprintf("%s: %v", what, err)) }

// TellFailed shows why something was not done. The cause comes first, since the line may be cut.
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

// TellBad shows what is wrong.
func (s *Status) TellBad(text string) { s.Note = Note{Text: text, Bad: true, At: s.env.Clock()} }

// Expire removes a note whose time is over.
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

// undo is the latest action that can be undone.
type undo struct {
	did   string
	until time.Time
	run   func() tea.Cmd
}

func (u *undo) open() bool { return u.run != nil }

// left returns how long the action can still be undone; it is negative afterwards.
func (u *undo) left(now time.Time) time.Duration { return u.until.Sub(now) }

// OfferUndo shows what was done, and how long run can undo it.
func (s *Status) OfferUndo(did string, run func() tea.Cmd) {
	s.Note = Note{}
	s.undo = undo{did: did, until: s.env.Clock().Add(undoFor), run: run}
}

// CanUndo reports whether the latest action can be undone.
func (s *Status) CanUndo() bool { return s.undo.open() && s.undo.left(s.env.Clock()) > 0 }

// Undoing reports whether the undo key is about the latest action: it can be undone, or could be up
// to [LateFor] ago.
func (s *Status) Undoing() bool { return s.undo.open() && s.undo.left(s.env.Clock()) > -LateFor }

// UndoHint returns the hint of the undo key, "" if it is too late.
func (s *Status) UndoHint() string {
	if s.CanUndo() {
		return "undo"
	}
	return ""
}

// UndoLast undoes the latest action, or says that it is too late.
func (s *Status) UndoLast() tea.Cmd {
	if !s.CanUndo() {
		s.Tell("too late to undo: " + s.undo.did + " more than " + cells.Span(undoFor) + " ago")
		return nil
	}
	run := s.undo.run
	s.undo = undo{}
	return run()
}

// undoWords says what can be undone, and for how long.
func (s *Status) undoWords() string {
	left := (s.undo.left(s.env.Clock()) + time.Second - 1).Truncate(time.Second)
	return s.undo.did + "; " + s.env.KeyOf("undo") + " undoes it, " + cells.Span(left) + " left"
}

// Ages reports whether the line changes with time alone.
func (s *Status) Ages() bool { return s.Note.Text != "" || s.undo.open() }

// Actions returns the action that undoes.
func (s *Status) Actions() []palette.Action {
	return palette.Grouped("Subscriptions",
		palette.Action{ID: "undo", Title: "undo what the status line names", Keys: []string{"u"}, Hint: "undo", HintNow: s.UndoHint, Dangerous: true, Passing: true, When: s.Undoing, Run: s.UndoLast},
	)
}
