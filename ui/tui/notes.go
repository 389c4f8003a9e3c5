package tui

import (
	tea "charm.land/bubbletea/v2"
)

// Tell shows on the status line what was done.
func (a *app) Tell(text string) { a.edges.Status.Tell(text) }

// Hush removes the note from the status line.
func (a *app) Hush() { a.edges.Status.Hush() }

// Fail shows on the status line what failed, and why.
func (a *app) Fail(what string, err error) { a.edges.Status.Fail(what, err) }

// TellBad shows on the status line what is wrong.
func (a *app) TellBad(text string) { a.edges.Status.TellBad(text) }

// OfferUndo shows what was done, and how long run can undo it.
func (a *app) OfferUndo(did string, run func() tea.Cmd) { a.edges.Status.OfferUndo(did, run) }
