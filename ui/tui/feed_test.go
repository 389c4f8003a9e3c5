package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/widget"
)

// The stand-in panics when the host is called on the event loop.
func TestAskingOnTheEventLoopFails(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	for name, ask := range map[string]func(){
		"the snapshot": func() { h.Snapshot() },
		"a record":     func() { _, _ = h.log.Get(1) },
		"a setting":    func() { _, _ = h.Setting("x") },
		"the audit":    func() { _ = h.Audit().Last() },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was asked")
				}
			}()
			a.Update(widget.Then(func() tea.Cmd { ask(); return nil }))
		})
	}
}
