package tui

import "eventdeck/ui/internal/reacttest"

// reacting returns an engine with two rules, two waiting runs and some that ended. It panics when it
// is called on the event loop.
func reacting() *reacttest.Engine {
	e := reacttest.Reacting()
	e.Asked = offEventLoop
	return e
}
