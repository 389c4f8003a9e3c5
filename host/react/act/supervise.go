package act

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"eventdeck/host/react"
)

// The arguments with which this program starts itself.
const (
	argSupervise = "__run"
	argBecome    = "__exec"
)

// lineReady is written by a supervisor that waits for the signal to start its command.
const lineReady = "ready\n"

// Main runs this process as a helper, if a [Runner] started it as one, and returns its exit
// code. Otherwise ok is false. The program calls it before anything else.
func Main(args []string) (code int, ok bool) {
	switch {
	case len(args) == 3 && args[1] == argSupervise:
		return supervise(), true
	case len(args) == 2 && args[1] == argBecome:
		return become(), true
	}
	return 0, false
}

// supervise is the supervisor: it waits for the signal to start, carries out the order, and
// writes a result. Once its command has begun it depends on no other process.
//
// It uses the directory of its attempt as the working directory, not by path: if its host was
// killed before the supervisor took the lock, the next host may have put another directory at
// that path.
func supervise() int {
	const dir = "."
	// On a signal to end, as at shutdown, it ends its command and says so in the result.
	// Children get the default handler for caught signals, but would inherit ignored ones.
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	// The host of an agent may be gone while the agent writes.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	lock, err := hold(filepath.Join(dir, fileLock))
	if err != nil {
		fmt.Println(scarce(err))
		return 1
	}
	defer func() { _ = lock.Close() }() // the end of the process releases it too
	o, err := readOrder(dir)
	if err == nil {
		err = reserve(dir)
	}
	if err != nil {
		fmt.Println(scarce(err))
		return 1
	}
	if _, err := os.Stdout.WriteString(lineReady); err != nil {
		return 1 // the host that would have it start is gone
	}
	if o.Request.Kind != react.RequestAgent {
		_ = os.Stdout.Close() // it is not used any more
	}
	result := react.Result{Outcome: react.OutcomeNever, Why: "eventdeck ended before the command began"}
	var open [1]byte
	if n, _ := os.Stdin.Read(open[:]); n == 1 {
		result = o.carryOut(dir, asked)
	}
	result.Ended, result.Boundary = time.Now().UTC(), o.Request.Boundary
	if err := writeResult(dir, result); err != nil {
		result.Output = react.Output{} // the disk may be full; the rest fits into the reserved space
		result.Why = strings.TrimPrefix(result.Why+"; its output could not be kept: "+err.Error(), "; ")
		if err := writeResult(dir, result); err != nil {
			return 1 // without a result the outcome counts as unknown
		}
	}
	return 0
}

func never(why string) react.Result { return react.Result{Outcome: react.OutcomeNever, Why: why} }

// unstarted returns the result of an act that was not begun because of an error.
func unstarted(err error) react.Result {
	err = scarce(err)
	switch {
	case errors.Is(err, react.ErrScarce):
		return react.Result{Outcome: react.OutcomeScarce, Why: err.Error()}
	case errors.Is(err, react.ErrProgram): // the next attempt finds it too, and asks
		return never(err.Error())
	}
	return react.Result{Outcome: react.OutcomeFailed, Exit: -1, Why: err.Error()}
}

// scarce makes an error an [react.ErrScarce] if what it names is one.
func scarce(err error) error {
	for _, lack := range lacks {
		if errors.Is(err, lack) && !errors.Is(err, react.ErrScarce) {
			return fmt.Errorf("%w: %w", react.ErrScarce, err)
		}
	}
	return err
}

// heard returns the error whose text another process of this program wrote. Its text begins with
// what [errors.Is] finds.
func heard(text string) error {
	for _, class := range []error{react.ErrScarce, react.ErrProgram, react.ErrBoundary} {
		if rest, is := strings.CutPrefix(text, class.Error()); is {
			return fmt.Errorf("%w%s", class, rest)
		}
	}
	return errors.New(text)
}

// carryOut runs the command, and ends all processes that it leaves.
func (o order) carryOut(dir string, asked <-chan os.Signal) react.Result {
	if o.stopped() {
		return never("all reactions are stopped")
	}
	err := unchanged(o.Request, os.LookupEnv)
	if err == nil {
		err = isTree(o.Request.Files, o.Tree)
	}
	var pipes *pipes
	if err == nil {
		pipes, err = newPipes()
	}
	if err == nil {
		err = errors.Join(writeSynced(filepath.Join(dir, fileBegun), nil), syncDir(dir))
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return unstarted(err)
	}
	g, err := o.start(o.launch(dir), pipes.theirs[:])
	if err != nil {
		pipes.begin(bytes.NewReader(nil), nil)
		pipes.end()
		return unstarted(err)
	}
	if o.Request.Kind == react.RequestAgent {
		pipes.begin(os.Stdin, os.Stdout)
	} else {
		pipes.begin(bytes.NewReader(o.Request.Input), nil)
	}
	result := o.watch(dir, g, asked, pipes.wrote)
	if !g.end() {
		result.Why += "; some of its processes could not be ended"
	}
	result.Output = pipes.end()
	return fit(result)
}

// launch is a binary with what starts it.
type launch struct {
	Path string // of the binary
	Sum  string // SHA-256 of its bytes
	Argv []string
	Dir  string
	Link string // where a link to the opened binary may be made, with the program's name
}

// launch says what the system would start for the command, with scripts and code in their tree.
func (o order) launch(dir string) launch {
	f, argv := o.Request.Files, o.Request.Argv
	l := launch{Path: f.Path, Sum: f.Program, Dir: o.Request.Dir, Link: filepath.Join(dir, dirLink, filepath.Base(f.Path))}
	if l.Dir == "" {
		l.Dir = filepath.Join(dir, dirWork)
	}
	if isCode(f, f.Path) && !isCode(f, argv[0]) { // named by a link, which leads past the tree
		argv = slices.Concat([]string{f.Path}, argv[1:])
	}
	place := func(words ...string) (all []string) {
		for _, word := range words {
			if isCode(f, word) {
				word = inTree(o.Tree, word)
			}
			all = append(all, word)
		}
		return all
	}
	l.Argv = place(argv...)
	for _, i := range f.Interpreters {
		l.Argv = slices.Concat(place(i.Name), place(i.Args...), []string{inTree(o.Tree, l.Path)}, l.Argv[1:])
		l.Path, l.Sum = i.Path, i.Program
	}
	if isCode(f, l.Path) || slices.Contains(copied(f), l.Path) {
		l.Path = inTree(o.Tree, l.Path)
	}
	return l
}

// open opens the binary, so that nobody can change or replace it before it is started. Error:
// [react.ErrProgram] if it is not the one that was approved.
func (l launch) open() (*os.File, error) {
	f, err := openToStart(l.Path)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", react.ErrProgram, l.Path, err)
	}
	sum, err := sumOf(f)
	if err == nil && sum != l.Sum {
		err = fmt.Errorf("%w %q: it was changed since it was approved; approve it anew", react.ErrProgram, l.Path)
	}
	return f, err
}

// stopped reports whether there is a stop file. If that cannot be determined, there is.
func (o order) stopped() bool { return there(filepath.Join(o.Data, react.StopFile)) }

func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// exit is how the command's own process ended.
type exit struct {
	code   int // -1: by a signal
	signal string
}

// watch waits until the command ends, or must be ended. hungUp is closed at the end of the input,
// with which the work of an agent ends.
func (o order) watch(dir string, g *group, asked <-chan os.Signal, hungUp <-chan struct{}) react.Result {
	if o.Request.Kind != react.RequestAgent {
		hungUp = nil
	}
	var late <-chan time.Time
	looked := time.Now()
	deadline := looked.Add(o.Request.Time)
	limit := time.NewTimer(o.Request.Time)
	defer limit.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	paused := func() bool { return o.Request.Kind == react.RequestAgent && there(filepath.Join(dir, filePause)) }
	for {
		select {
		case e := <-g.exited:
			switch {
			case e.code == 0:
				return react.Result{Outcome: react.OutcomeDone}
			case e.code > 0:
				return react.Result{Outcome: react.OutcomeFailed, Exit: e.code, Why: fmt.Sprintf("exit code %d", e.code)}
			}
			return react.Result{Outcome: react.OutcomeFailed, Exit: -1, Why: "ended by the signal " + e.signal}
		case <-limit.C:
			if paused() {
				continue // the next tick sets the limit again
			}
			return react.Result{Outcome: react.OutcomeFailed, Exit: -1, Why: fmt.Sprintf("ended after its limit of %s", o.Request.Time)}
		case <-hungUp:
			hungUp, late = nil, time.After(graceTerm)
		case <-late:
			return react.Result{Outcome: react.OutcomeDone, Exit: -1, Why: "ended, as it did not when its input did"}
		case <-asked:
			return react.Result{Outcome: react.OutcomeKilled, Exit: -1, Why: "its supervisor was asked to end"}
		case <-look.C:
			now := time.Now()
			if paused() {
				deadline = deadline.Add(now.Sub(looked))
			}
			looked = now
			limit.Reset(deadline.Sub(now))
			if o.stopped() || there(filepath.Join(dir, fileKill)) {
				return react.Result{Outcome: react.OutcomeKilled, Exit: -1, Why: "the operator stopped it"}
			}
		}
	}
}

// Bounds of a command's end.
const (
	graceTerm = 5 * time.Second // between SIGTERM and the first SIGKILL
	graceKill = 5 * time.Second // for killed processes to be gone
	graceRead = time.Second     // for the last output
	killEvery = 20 * time.Millisecond
)

// end ends all processes of the command, and reports whether none is left.
func (g *group) end() bool { return end(g.signal, g.gone) }

// end asks processes to end, and kills those that do not, until they are gone.
func end(signal func(kill bool), gone <-chan struct{}) bool {
	signal(false)
	select {
	case <-gone:
		return true
	case <-time.After(graceTerm):
	}
	late := time.After(graceKill)
	for {
		signal(true)
		select {
		case <-gone:
			return true
		case <-late:
			return false
		case <-time.After(killEvery):
		}
	}
}

// pipes are the standard streams of a command.
type pipes struct {
	theirs [3]*os.File
	ours   [3]*os.File
	out    [2]capture
	read   [2]chan struct{} // closed when the stream has ended
	wrote  chan struct{}    // closed at the end of the input
	// streams: the input comes from the host, and has no end of its own.
	streams bool
}

func newPipes() (*pipes, error) {
	p := &pipes{}
	for i := range p.theirs {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err // the process ends soon, and the pipes with it
		}
		if i == 0 {
			p.theirs[i], p.ours[i] = r, w
		} else {
			p.theirs[i], p.ours[i] = w, r
		}
	}
	return p, nil
}

// begin closes the command's ends, and copies the input to the command, and its standard output
// to echo, unless that is nil. The goroutines end with the streams or with end; one that waits
// for more input of a host ends with the process.
func (p *pipes) begin(input io.Reader, echo *os.File) {
	for _, f := range p.theirs {
		_ = f.Close() // the command has its own
	}
	p.wrote = make(chan struct{})
	go func() {
		defer close(p.wrote)
		_, _ = io.Copy(p.ours[0], input) // a command need not read it
		_ = p.ours[0].Close()
	}()
	for i := range p.out {
		p.read[i] = make(chan struct{})
		to := echoed{capture: &p.out[i]}
		if i == 0 {
			to.echo = echo
		}
		go func() {
			defer close(p.read[i])
			_, _ = io.Copy(&to, p.ours[i+1]) // an error ends the output
			to.end()
		}()
	}
	p.streams = echo != nil
}

// echoed keeps what is written to it, and copies it to echo until that fails.
type echoed struct {
	*capture
	echo *os.File // nil: no copy
}

// Write implements [io.Writer].
func (e *echoed) Write(p []byte) (int, error) {
	if e.echo != nil {
		if _, err := e.echo.Write(p); err != nil {
			e.end()
		}
	}
	return e.capture.Write(p)
}

func (e *echoed) end() {
	if e.echo != nil {
		_ = e.echo.Close() // its reader sees the end, or has ended before
		e.echo = nil
	}
}

// end returns what was printed. It does not wait for processes that keep a stream open beyond the
// end of the command.
func (p *pipes) end() react.Output {
	_ = p.ours[0].SetWriteDeadline(time.Unix(1, 0))
	if !p.streams {
		<-p.wrote
	}
	_ = p.ours[1].SetReadDeadline(time.Now().Add(graceRead))
	_ = p.ours[2].SetReadDeadline(time.Now().Add(graceRead))
	<-p.read[0]
	<-p.read[1]
	return react.Output{Stdout: p.out[0].stream(), Stderr: p.out[1].stream()}
}
