package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/ui/cli/program"
)

// screenDemo are demo servers that are started from the screen. They live as long as the
// screen. Their subscriptions end with them, because no later run could reach them again.
type screenDemo struct {
	app    *app
	opened *program.OpenHost
	ctx    context.Context // of the screen

	mu      sync.Mutex
	servers []event.Server
	end     []func() error // what ends the servers
	wait    func() error   // for the subscriptions that are begun
	cancel  context.CancelFunc
}

// demoLeaveWithin bounds how long ending the demo subscriptions may take.
const demoLeaveWithin = 10 * time.Second

var errDemoRuns = errors.New("they run already")

// start starts the servers, adds them and begins to subscribe.
func (l *screenDemo) start(context.Context) (names []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.servers != nil {
		return nil, errDemoRuns
	}
	servers, stop, err := l.app.startServers(l.ctx, demoFlags{speed: 1, seed: 1})
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	l.servers, l.end = servers, append(l.end, stop)
	for _, s := range servers {
		s.ByHand = true
		l.opened.AddServer(s)
		names = append(names, s.Name)
	}
	ctx, cancel := context.WithCancel(l.ctx)
	l.cancel, l.wait = cancel, subscribeDemo(ctx, l.opened)
	return names, nil
}

// leave ends the subscriptions at the demo servers. What arrived stays.
func (l *screenDemo) leave() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.servers == nil {
		return nil
	}
	l.cancel()
	err := l.wait()
	ctx, cancel := context.WithTimeout(context.Background(), demoLeaveWithin)
	defer cancel()
	for _, s := range l.servers {
		err = errors.Join(err, l.opened.RemoveServer(ctx, s.Name))
	}
	return err
}

// stop ends the servers. The host must be closed before.
func (l *screenDemo) stop() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	for _, end := range l.end {
		err = errors.Join(err, end())
	}
	return err
}
