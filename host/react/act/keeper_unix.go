//go:build unix

package act

import (
	"os"
	"runtime"
	"sync"

	"eventdeck/host/react/confine"
)

// keeper is the thread that starts a confined command, and whose signals reach that command
// and what it starts, and nothing else. Its goroutine ends with the process.
type keeper struct{ do chan func(confine.Scope) }

// newKeeper returns nil where the kernel has no such threads.
func newKeeper() *keeper {
	k := &keeper{make(chan func(confine.Scope))}
	made := make(chan error)
	go func() {
		runtime.LockOSThread()
		scope, err := confine.KeepSignals()
		made <- err
		if err != nil {
			return // and the thread with it
		}
		for f := range k.do {
			f(scope)
		}
	}()
	if <-made != nil {
		return nil
	}
	return k
}

// start starts a process as [os.StartProcess] does.
func (k *keeper) start(path string, argv []string, attr *os.ProcAttr) (p *os.Process, err error) {
	if k == nil {
		return os.StartProcess(path, argv, attr)
	}
	k.run(func(confine.Scope) { p, err = os.StartProcess(path, argv, attr) })
	return p, err
}

// kill kills all that was started, and reports whether it could.
func (k *keeper) kill() (done bool) {
	if k == nil {
		return false
	}
	k.run(func(s confine.Scope) { done = s.KillAll() == nil })
	return done
}

func (k *keeper) run(f func(confine.Scope)) {
	done := make(chan struct{})
	k.do <- func(s confine.Scope) {
		defer close(done)
		f(s)
	}
	<-done
}

// spareThreads is how many threads a supervisor has before its command begins.
const spareThreads = 16

// spare makes threads that stay: a command may start as many processes as this user can have,
// and a supervisor that could make no thread then would end before it ended them.
func spare() {
	var here, gone sync.WaitGroup
	here.Add(spareThreads)
	for range spareThreads {
		gone.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			here.Done()
			here.Wait()
		})
	}
	gone.Wait()
}
