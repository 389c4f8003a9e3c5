package external

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
)

// Stops restores the terminal before the process stops (SIGTSTP), also when something other than the
// screen's key asks for that. The zero value does nothing.
type Stops struct {
	send func(tea.Msg)
	away atomic.Int32 // the screen does not have the terminal: the process may stop at once
}

// Watch begins to watch, until ctx ends. send must deliver a message to the event loop.
func (s *Stops) Watch(ctx context.Context, send func(tea.Msg)) {
	if len(stopSignals) == 0 {
		return
	}
	s.send = send
	got := make(chan os.Signal, 1)
	signal.Notify(got, stopSignals...)
	go func() {
		defer signal.Stop(got)
		for {
			select {
			case <-ctx.Done():
				return
			case <-got:
			}
			if s.away.Load() > 0 {
				stopProcess() // Go does not bring back the default effect of the signal
			} else {
				send(tea.SuspendMsg{})
			}
		}
	}()
}

// Filter is called with each message before the event loop handles it.
func (s *Stops) Filter(msg tea.Msg) {
	switch msg.(type) {
	case tea.SuspendMsg: // the loop restores the terminal, and then sends the signal to the process
		s.away.Add(1)
	case tea.ResumeMsg:
		s.away.Add(-1)
	}
}

// lend notes that another program has the terminal, until back is called.
func (s *Stops) lend() (back func()) {
	if s.send == nil {
		return func() {}
	}
	s.away.Add(1)
	return func() { go s.send(tea.ResumeMsg{}) }
}
