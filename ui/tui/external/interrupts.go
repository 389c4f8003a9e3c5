package external

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"time"
)

// Interrupts ends the program at an interrupt, but not while another program, such as a pager, has
// the terminal: ctrl+c goes to both and is meant for that one. The zero value is ready.
type Interrupts struct{ lent atomic.Int32 }

// End returns a context that ends at an interrupt. After the first interrupt, and after stop,
// interrupts have the default effect again. The caller calls stop.
func (i *Interrupts) End(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = context.WithCancel(parent)
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt)
	go func() {
		defer stop()
		defer signal.Stop(got)
		for {
			select {
			case <-got:
				if i.lent.Load() == 0 {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, stop
}

// lend ignores interrupts until back is called and for [lendRest] after that: on a busy machine the
// end of the other program may be seen before the signal that ended it. No ctrl+c is lost, as on the
// screen it is a key press.
func (i *Interrupts) lend() (back func()) {
	if i == nil {
		return func() {}
	}
	i.lent.Add(1)
	return func() { time.AfterFunc(lendRest, func() { i.lent.Add(-1) }) }
}

// lendRest is how long after its end an interrupt for another program may come.
const lendRest = 2 * time.Second

// guest is a [tea.ExecCommand] that has the terminal while it runs.
type guest struct {
	*exec.Cmd
	lend func() (back func())
}

func (g *guest) SetStdin(in io.Reader)   { g.Stdin = in }
func (g *guest) SetStdout(out io.Writer) { g.Stdout = out }
func (g *guest) SetStderr(out io.Writer) { g.Stderr = out }

// Run runs the program to its end.
func (g *guest) Run() error {
	defer g.lend()()
	return g.Cmd.Run()
}
