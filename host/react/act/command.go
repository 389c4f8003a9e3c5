package act

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"eventdeck/host/react"
)

// The files in the directory of an attempt.
const (
	fileOrder  = "order.json" // what is to be done
	fileLock   = "lock"       // locked while the supervisor lives
	fileBegun  = "begun"      // made before the command starts
	fileKill   = "kill"       // made to have the command end
	filePause  = "pause"      // there while the time of a command does not count
	fileResult = "result.json"
	dirWork    = "work" // the private working directory
	dirLink    = "exec" // a link to the opened program
)

// order is the input of a supervisor.
type order struct {
	Request react.Request `json:"request"`
	Hidden  []string      `json:"hidden"`
	Data    string        `json:"data"`           // the data directory, with the stop file
	Host    int           `json:"host"`           // PID of the process that wrote the order
	Tree    string        `json:"tree,omitempty"` // where [react.Files.Tree] is; "": nowhere
	// Sockets are those that a confined agent may connect to, if the confinement covers sockets.
	Sockets []string `json:"sockets,omitempty"`
}

var errAttempt = errors.New("an attempt of that number was made before")

// plainID matches ids of runs that can name a directory.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// readyCommand starts a supervisor, which waits for the signal to start its command.
func (r *Runner) readyCommand(ctx context.Context, req react.Request, h react.Handle, sockets ...string) (*command, error) {
	if err := unchanged(req, r.o.Env); err != nil {
		return nil, fmt.Errorf("run %s: %w", req.Run, scarce(err))
	}
	switch boundary, err := r.boundary(req); {
	case err != nil:
		return nil, fmt.Errorf("run %s: %w", req.Run, err)
	case boundary != req.Boundary:
		return nil, fmt.Errorf("run %s: %w: it is %q now and was %q when it was approved", req.Run, react.ErrBoundary, boundary, req.Boundary)
	}
	dir, err := r.newDir(ctx, req, h.Attempt, sockets)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", req.Run, scarce(err))
	}
	h.Dir = dir
	a := &command{handle: h, now: r.o.Now, ended: make(chan struct{})}
	if err := r.supervise(ctx, a, req); err != nil {
		return nil, fmt.Errorf("run %s: supervisor: %w", req.Run, scarce(errors.Join(err, os.RemoveAll(dir))))
	}
	return a, nil
}

// unstartedEnds is how long a supervisor may take to end once it is known that its command will
// never start.
const unstartedEnds = time.Minute

// newDir makes the directory of an attempt. If there is one, an earlier process was killed in
// the same attempt: it is replaced once its supervisor has ended without starting the command.
func (r *Runner) newDir(ctx context.Context, req react.Request, attempt int, sockets []string) (string, error) {
	if !plainID.MatchString(string(req.Run)) {
		return "", fmt.Errorf("%q is no id of a run", req.Run)
	}
	dir := filepath.Join(r.place(), string(req.Run)+"-"+strconv.Itoa(attempt))
	if _, err := os.Lstat(dir); err == nil {
		ctx, cancel := context.WithTimeout(ctx, unstartedEnds)
		defer cancel()
		earlier := &command{handle: react.Handle{Dir: dir}, now: r.o.Now}
		if result, err := earlier.Wait(ctx); err != nil || result.Outcome != react.OutcomeNever {
			return "", errors.Join(fmt.Errorf("%w: %s", errAttempt, dir), err)
		}
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	tree, err := r.tree(req.Files)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(order{Request: req, Hidden: r.hidden(), Data: r.o.Dir, Host: os.Getpid(), Sockets: sockets, Tree: tree})
	if err == nil && req.Dir == "" {
		err = os.Mkdir(filepath.Join(dir, dirWork), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, fileOrder), text, 0o600)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// supervise starts the supervisor and waits until it is ready to start the command. It does
// not end with ctx or with this process.
func (r *Runner) supervise(ctx context.Context, a *command, req react.Request) error {
	in, start, err := os.Pipe()
	if err != nil {
		return err
	}
	out, said, err := os.Pipe()
	if err != nil {
		return errors.Join(err, in.Close(), start.Close())
	}
	cmd := exec.Command(r.o.Executable, argSupervise, a.handle.Dir)
	cmd.Stdin, cmd.Stdout = in, said
	cmd.Dir = a.handle.Dir
	cmd.Env = r.environment(req)
	cmd.SysProcAttr = ofItsOwn()
	err = cmd.Start()
	if err = errors.Join(err, in.Close(), said.Close()); err != nil {
		return errors.Join(err, start.Close(), out.Close())
	}
	a.handle.PID, a.start = cmd.Process.Pid, start
	go func() { // it ends with the supervisor
		_ = cmd.Wait() // its result says how it went
		close(a.ended)
	}()
	stop := context.AfterFunc(ctx, func() { _ = out.SetReadDeadline(time.Unix(1, 0)) })
	line, err := bufio.NewReader(out).ReadString('\n') // nothing comes behind it before the command starts
	stop()
	if line == lineReady && req.Kind == react.RequestAgent {
		a.out = out
		return nil
	}
	err = errors.Join(err, out.Close())
	if line == lineReady {
		return nil
	}
	a.Abort()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(heard(strings.TrimSpace(line)), err)
}

// environment returns the variables of a supervisor, and so of its command.
func (r *Runner) environment(req react.Request) []string {
	names := req.Env
	if runtime.GOOS == "windows" {
		names = append([]string{"SYSTEMROOT"}, names...)
	}
	env := []string{
		"EVENTDECK_RUN=" + string(req.Run), "EVENTDECK_RULE=" + req.Rule,
		"EVENTDECK_SEQ=" + strconv.FormatUint(req.Seq, 10), "EVENTDECK_COUNT=" + strconv.FormatUint(req.Count, 10),
	}
	for _, name := range names {
		if value, ok := r.o.Env(name); ok && !strings.HasPrefix(name, "EVENTDECK_") {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// command is an attempt of a command, of this process or of an earlier one.
type command struct {
	handle react.Handle
	now    func() time.Time
	ended  chan struct{} // closed when the supervisor has ended; nil: it is not a child of this process

	out *os.File // output of an agent; nil: no agent

	mu    sync.Mutex
	start *os.File // a byte to it starts the command; nil: begun, aborted, or of an earlier process
}

// takeStart returns start, once.
func (a *command) takeStart() *os.File {
	a.mu.Lock()
	defer a.mu.Unlock()
	start := a.start
	a.start = nil
	return start
}

// adoptCommand takes over an attempt of an earlier process.
func (r *Runner) adoptCommand(h react.Handle) (react.Attempt, error) {
	if h.Dir == "" || filepath.Dir(h.Dir) != r.place() {
		return react.EndedAttempt(h, unknown("its directory is not one of this data directory", r.o.Now())), nil
	}
	result, err := left(h.Dir, r.o.Now())
	if errors.Is(err, errAlive) {
		return &command{handle: h, now: r.o.Now}, nil
	}
	if err != nil {
		return nil, err
	}
	return react.EndedAttempt(h, result), nil
}

// Handle implements [react.Attempt].
func (a *command) Handle() react.Handle { return a.handle }

// Go implements [react.Attempt].
func (a *command) Go(react.Steps) error {
	start := a.takeStart()
	if start == nil {
		return react.ErrBegun
	}
	_, err := start.Write([]byte{1})
	if err != nil {
		return fmt.Errorf("the supervisor has ended before its command began: %w", errors.Join(err, start.Close()))
	}
	if a.out == nil {
		_ = start.Close() // the byte is delivered
	}
	return nil
}

// Abort implements [react.Attempt].
func (a *command) Abort() {
	if start := a.takeStart(); start != nil {
		_ = start.Close() // the supervisor sees the end
		if a.out != nil {
			_ = a.out.Close()
		}
		<-a.ended
	}
}

// lookEvery is how often the end of a supervisor is polled that is not a child of this process.
const lookEvery = 100 * time.Millisecond

// Wait implements [react.Attempt].
func (a *command) Wait(ctx context.Context) (react.Result, error) {
	if a.ended != nil {
		select {
		case <-a.ended:
		case <-ctx.Done():
			return react.Result{}, context.Cause(ctx)
		}
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		result, err := left(a.handle.Dir, a.now())
		if !errors.Is(err, errAlive) {
			return result, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return react.Result{}, context.Cause(ctx)
		}
	}
}

// Kill implements [react.Attempt]: the supervisor sees the file.
func (a *command) Kill() {
	f, err := os.OpenFile(filepath.Join(a.handle.Dir, fileKill), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_ = f.Close() // the file itself is the message
	}
	a.Abort()
}

// errAlive: the supervisor is there.
var errAlive = errors.New("it runs")

// left returns the result in the directory of an attempt. Error: errAlive while its supervisor
// runs.
func left(dir string, now time.Time) (react.Result, error) {
	free, err := isFree(filepath.Join(dir, fileLock))
	if errors.Is(scarce(err), react.ErrScarce) {
		return react.Result{}, errAlive // as far as can be told now
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return unknown("its directory is gone", now), nil
		}
		free, err = true, nil // no supervisor got as far as the lock
	}
	switch {
	case err != nil:
		return react.Result{}, err
	case !free:
		return react.Result{}, errAlive
	}
	text, err := os.ReadFile(filepath.Join(dir, fileResult))
	if err == nil {
		var result react.Result
		if err := json.Unmarshal(text, &result); err != nil {
			return unknown("its result cannot be read", now), nil
		}
		return result, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return react.Result{}, err
	}
	if _, err := os.Lstat(filepath.Join(dir, fileBegun)); errors.Is(err, fs.ErrNotExist) {
		return react.Result{Outcome: react.OutcomeNever, Why: "the supervisor ended before the command began", Ended: now}, nil
	}
	return unknown("the supervisor ended without a result", now), nil
}

func unknown(why string, now time.Time) react.Result {
	return react.Result{Outcome: react.OutcomeUnknown, Why: why, Ended: now}
}

// Forget implements [react.Runner].
func (r *Runner) Forget(h react.Handle) error {
	if h.Dir == "" {
		return nil
	}
	if filepath.Dir(h.Dir) != r.place() {
		return fmt.Errorf("what an attempt left: %s is not in %s", h.Dir, r.place())
	}
	return os.RemoveAll(h.Dir)
}

// reserved is how many bytes of disk space are reserved for a result: a command may fill the
// disk.
const reserved = 64 << 10

// reserve reserves disk space for a result.
func reserve(dir string) error {
	return writeSynced(filepath.Join(dir, fileResult+".new"), make([]byte, reserved))
}

// writeResult writes the result so that a crash leaves either all of it or nothing.
func writeResult(dir string, result react.Result) error {
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	if err := writeSynced(filepath.Join(dir, fileResult+".new"), text); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(dir, fileResult+".new"), filepath.Join(dir, fileResult)); err != nil {
		return err
	}
	return syncDir(dir)
}

// writeSynced overwrites a file, in the disk space that it has already, truncates and syncs it.
func writeSynced(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Truncate(int64(len(text)))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readOrder reads the input of a supervisor.
func readOrder(dir string) (o order, err error) {
	text, err := os.ReadFile(filepath.Join(dir, fileOrder))
	if err != nil {
		return o, err
	}
	err = json.Unmarshal(text, &o)
	return o, err
}
