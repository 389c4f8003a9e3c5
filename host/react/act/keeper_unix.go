//go:build unix

package act

import (
	"os"
	"runtime"
	"sync"
)

// keeper is a thread that starts a confined command, and whose signals reach only that command
// and what it starts. Its goroutine ends with the process.
type keeper struct{ do chan func(Scope) }

// newKeeper returns nil where the kernel has no such threads.
func newKeeper() *keeper {
	k := &keeper{make(chan func(Scope))}
	made := make(chan error)
	go func() {
		runtime.LockOSThread()
		scope, err := KeepSignals()
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
	k.run(func(Scope) { p, err = os.StartProcess(path, argv, attr) })
	return p, err
}

// kill kills everything that the thread started, and reports whether that was possible.
func (k *keeper) kill() (done bool) {
	if k == nil {
		return false
	}
	k.run(func(s Scope) { done = s.KillAll() == nil })
	return done
}

func (k *keeper) run(f func(Scope)) {
	done := make(chan struct{})
	k.do <- func(s Scope) {
		defer close(done)
		f(s)
	}
	<-done
}

// spareThreads is how many threads a supervisor creates before its command begins.
const spareThreads = 16

// spare creates threads in advance: a command may use up the user's limit of processes, and a
// supervisor that then needs a new thread would crash before it ended them.
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
