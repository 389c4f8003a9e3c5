package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	reactions "eventdeck/ui/tui/react"
)

// reactTickMsg is a tick of the guard of approvals.
type reactTickMsg struct{}

// reactEnv is what the screen of reactions needs.
func (a *app) reactEnv(engine react.Control) *reactions.Env {
	return &reactions.Env{
		Env: &a.Env, Screen: a, Engine: engine, Masked: a.o.Present, Writer: a.o.Rules, Log: func() eventlog.Records { return a.o.API.Log() },
		Last: func() uint64 { return a.snap.Last }, Stream: &a.stream.Stream, Detail: &a.detail, Panes: &a.panes, Forms: a.choice.Env,
		Covered: func() bool { return a.dialog != nil || a.prompt != nil },
		Chosen: func() (uint64, bool) {
			r, ok := a.stream.Record(a.recordShown())
			return r.Seq, ok
		},
	}
}

// reactTick returns a command that ticks the guard of approvals, nil while it needs none.
func (a *app) reactTick() tea.Cmd {
	if !a.react.WantsTick() {
		return nil
	}
	return a.Scheduler.After(reactions.TickEvery, reactTickMsg{})
}
