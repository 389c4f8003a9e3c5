package widget

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/query"
)

// Screen is the screen as its parts see it. Its methods are called on the event loop.
type Screen interface {
	// Show replaces the dialog that is shown; nil shows none.
	Show(d Dialog)
	// Shown returns the dialog that is shown, nil for none.
	Shown() Dialog
	// AskLine opens a prompt with a text. It replaces an open prompt.
	AskLine(p *Prompt, text string)
	// Line returns the open prompt, nil for none.
	Line() *Prompt
	// EditText opens a text in the operator's editor, and calls then with the result.
	EditText(text string, then func(text string) tea.Cmd) tea.Cmd

	// Tell shows a text on the status line until the next key; TellBad shows what is wrong, Fail
	// what failed and why. Hush clears the line.
	Tell(text string)
	TellBad(text string)
	Fail(what string, err error)
	Hush()
	// OfferUndo says what was done, and for a while offers to undo it with run.
	OfferUndo(did string, run func() tea.Cmd)

	// Do returns a command that runs fn in the background and sends the message that fn returns.
	// The context ends with the program, which waits for fn.
	Do(fn func(context.Context) tea.Msg) tea.Cmd
	// Ask returns a command that runs fn and shows what was done or what failed.
	Ask(what string, fn func(context.Context) error) tea.Cmd
	// Context returns the context of all background work.
	Context() context.Context
	// Read returns a command that reads the host now.
	Read() tea.Cmd
	// Copy copies text to the clipboard and says so.
	Copy(what, text string) tea.Cmd

	// Jump shows a record in the stream.
	Jump(seq uint64) tea.Cmd
	// JumpToSub chooses a subscription in the tree; false: there is none.
	JumpToSub(id event.SubID) bool
	// EnterStream moves the focus to the stream.
	EnterStream()
	// ShowQuery shows a query in the stream, and its node in the tree; ShowEvents shows the stream
	// of a node.
	ShowQuery(q query.Query)
	ShowEvents(n query.Node)

	// KeyOf returns the operator's key of an action, for texts that name it.
	KeyOf(action string) string
}
