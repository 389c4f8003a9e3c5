package tui

import "eventdeck/ui/internal/reacttest"

// reacting is an engine with two rules, two runs that wait and some that are over. It is
// never asked on the event loop.
func reacting() *reacttest.Engine {
	e := reacttest.Reacting()
	e.Asked = offEventLoop
	return e
}
