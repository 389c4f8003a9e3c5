package tui

import (
	tea "charm.land/bubbletea/v2"
)

// Tell tells what was done on the status line.
func (a *app) Tell(text string) { a.edges.Status.Tell(text) }

// Hush takes away what is told.
func (a *app) Hush() { a.edges.Status.Hush() }

// Fail tells on the status line what failed, and why.
func (a *app) Fail(what string, err error) { a.edges.Status.Fail(what, err) }

// TellBad tells on the status line what is wrong.
func (a *app) TellBad(text string) { a.edges.Status.TellBad(text) }

// OfferUndo tells what was done, and for how long it can be undone.
func (a *app) OfferUndo(did string, run func() tea.Cmd) { a.edges.Status.OfferUndo(did, run) }
