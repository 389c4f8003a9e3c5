package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

// Conn is a connection to one agent. Its methods may be called from any goroutine; one
// prompt at a time.
type Conn struct {
	in     io.WriteCloser
	out    io.ReadCloser
	o      Options
	info   Info
	queue  chan []byte     // to the agent
	ctx    context.Context // of the connection; its cause says why it ended
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	last     int // id of our newest request
	waiting  map[wire.ID]chan<- wire.Message
	turn     *turn // nil between prompts
	bytes    int   // read in this turn, or since the last one
	messages int   // the same for messages
}

// Open connects to an agent with standard input in and standard output out. Both are closed with
// the connection; closing them must interrupt a pending read or write. The connection does not
// end with ctx.
//
// Errors: [ErrVersion], those of [Conn.New].
func Open(ctx context.Context, in io.WriteCloser, out io.ReadCloser, o Options) (*Conn, error) {
	c := &Conn{in: in, out: out, o: o, queue: make(chan []byte, queueLines), waiting: map[wire.ID]chan<- wire.Message{}}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.wg.Go(c.write)
	c.wg.Go(c.read)
	if err := c.initialize(ctx); err != nil {
		_ = c.Close() // err says more
		return nil, err
	}
	return c, nil
}

// Info returns what the agent says of itself.
func (c *Conn) Info() Info { return c.info }

// Close ends the connection, and all calls that wait for the agent. It returns why the connection
// had ended before, if so.
func (c *Conn) Close() error {
	c.fail(ErrClosed)
	c.wg.Wait()
	if err := context.Cause(c.ctx); !errors.Is(err, ErrClosed) {
		return err
	}
	return nil
}

// fail ends the connection; the first reason counts.
func (c *Conn) fail(why error) {
	c.cancel(why)
	_ = c.in.Close() // the cause says more
	_ = c.out.Close()
}

func (c *Conn) initialize(ctx context.Context) error {
	var answer struct {
		ProtocolVersion   int `json:"protocolVersion"`
		AgentCapabilities struct {
			LoadSession bool `json:"loadSession"`
		} `json:"agentCapabilities"`
		AgentInfo struct {
			Name    trust.Text `json:"name"`
			Version trust.Text `json:"version"`
		} `json:"agentInfo"`
	}
	err := c.ask(ctx, "initialize", map[string]any{
		"protocolVersion":    protocolVersion,
		"clientCapabilities": map[string]any{"fs": map[string]any{"readTextFile": false, "writeTextFile": false}, "terminal": false},
		"clientInfo":         map[string]any{"name": "eventdeck", "version": c.o.Version},
	}, &answer)
	if err != nil {
		return err
	}
	if answer.ProtocolVersion != protocolVersion {
		return fmt.Errorf("%w: %d instead of %d", ErrVersion, answer.ProtocolVersion, protocolVersion)
	}
	c.info = Info{Name: answer.AgentInfo.Name, Version: answer.AgentInfo.Version, Loads: answer.AgentCapabilities.LoadSession}
	return nil
}

// New begins a session in a directory, and returns its id.
//
// Errors: [ErrRefused], [ErrProtocol], [ErrTooMuch], [ErrDeaf], [ErrGone]; the cause of ctx.
func (c *Conn) New(ctx context.Context, dir string, servers []Server) (trust.Text, error) {
	var answer struct {
		SessionID trust.Text `json:"sessionId"`
	}
	if err := c.ask(ctx, "session/new", sessionParams(dir, servers), &answer); err != nil {
		return trust.Text{}, err
	}
	if answer.SessionID.IsZero() || answer.SessionID.Len() > maxID {
		return trust.Text{}, c.broken("an id of a session of %d bytes", answer.SessionID.Len())
	}
	return answer.SessionID, nil
}

// Load continues an earlier session, also of an earlier process of the agent. Messages that the
// agent replays are ignored.
//
// Errors: those of [Conn.New]; [ErrRefused] also if [Info.Loads] is false.
func (c *Conn) Load(ctx context.Context, session trust.Text, dir string, servers []Server) error {
	if !c.info.Loads {
		return fmt.Errorf("%w: it cannot load sessions", ErrRefused)
	}
	params := sessionParams(dir, servers)
	params["sessionId"] = session.Raw()
	return c.ask(ctx, "session/load", params, nil)
}

func sessionParams(dir string, servers []Server) map[string]any {
	list := []any{}
	for _, s := range servers {
		env := []any{}
		for _, v := range s.Env {
			env = append(env, map[string]string{"name": v[0], "value": v[1]})
		}
		args := s.Args
		if args == nil {
			args = []string{}
		}
		list = append(list, map[string]any{"name": s.Name, "command": s.Command, "args": args, "env": env})
	}
	return map[string]any{"cwd": dir, "mcpServers": list}
}

// ask sends a request and decodes its answer into a value; nil: the answer does not matter.
func (c *Conn) ask(ctx context.Context, method string, params, into any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, setupTime, fmt.Errorf("%w: no answer to %s within %s", ErrDeaf, method, setupTime))
	defer cancel()
	id, answered, err := c.request(method, params, nil)
	if err != nil {
		return err
	}
	select {
	case m := <-answered:
		return c.answer(method, m, into)
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
		return context.Cause(ctx)
	}
}

// errBusy: another prompt is under way.
var errBusy = errors.New("a prompt is under way")

// request sends a request. A prompt begins its turn before it is sent. If the agent answers, the
// channel gets exactly one message.
func (c *Conn) request(method string, params any, prompt *turn) (wire.ID, <-chan wire.Message, error) {
	text, err := wire.Marshal(params)
	if err != nil {
		return "", nil, err
	}
	answered := make(chan wire.Message, 1)
	c.mu.Lock()
	if prompt != nil && c.turn != nil {
		c.mu.Unlock()
		return "", nil, errBusy
	}
	c.last++
	id := wire.ID(strconv.Itoa(c.last))
	c.waiting[id] = answered
	if prompt != nil {
		prompt.id, c.turn = id, prompt
		c.bytes, c.messages = 0, 0
	}
	c.mu.Unlock()
	return id, answered, c.tell(wire.EncodeRequest(id, method, text))
}

// answer decodes an answer of the agent.
func (c *Conn) answer(method string, m wire.Message, into any) error {
	if m.Error != nil {
		const authRequired = -32000
		if m.Error.Code == authRequired {
			return fmt.Errorf("%w %s: it wants a sign-in; start it by hand once and sign in there: %v", ErrRefused, method, shown(m.Error.Message))
		}
		return fmt.Errorf("%w %s: %v (%d)", ErrRefused, method, shown(m.Error.Message), m.Error.Code)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, into); err != nil {
		return c.broken("its answer to %s cannot be read", method)
	}
	return nil
}

// shown returns the beginning of a text, for an error.
func shown(t trust.Text) string { return trust.Line(t).Clip(200).Plain() }

// broken ends the connection with [ErrProtocol].
func (c *Conn) broken(format string, args ...any) error {
	err := fmt.Errorf("%w: "+format, append([]any{ErrProtocol}, args...)...)
	c.fail(err)
	return err
}

// tell queues a message, unless too many wait already.
func (c *Conn) tell(frame []byte) error {
	select {
	case c.queue <- frame:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	default:
		c.fail(fmt.Errorf("%w: %d messages wait to be read by it", ErrDeaf, queueLines))
		return context.Cause(c.ctx)
	}
}

// write sends queued messages until the connection ends.
func (c *Conn) write() {
	for {
		select {
		case frame := <-c.queue:
			if _, err := c.in.Write(append(frame, '\n')); err != nil {
				c.fail(fmt.Errorf("%w: %w", ErrDeaf, err))
				return
			}
		case <-c.ctx.Done():
			return
		}
	}
}

// read handles messages of the agent until the connection ends.
func (c *Conn) read() {
	r := bufio.NewReaderSize(c.out, 64<<10)
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			c.fail(fmt.Errorf("%w: a line of more than %d bytes", ErrTooMuch, maxLine))
			return
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			if err = c.take(line); err != nil {
				c.fail(err)
				return
			}
			line = line[:0]
		case errors.Is(err, io.EOF):
			c.fail(ErrGone)
			return
		default:
			c.fail(fmt.Errorf("%w: %w", ErrGone, err))
			return
		}
	}
}

// take handles one line. Error: the connection cannot go on.
func (c *Conn) take(line []byte) error {
	c.mu.Lock()
	c.bytes += len(line)
	c.messages++
	tooMuch := c.bytes > maxTurn || c.messages > maxMessages
	c.mu.Unlock()
	if tooMuch {
		return fmt.Errorf("%w: more than %d messages or %d bytes in one turn", ErrTooMuch, maxMessages, maxTurn)
	}
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}
	if _, err := strict.ParseObject(line, strict.Limits{}); err != nil {
		return fmt.Errorf("%w: %q is no message: %w", ErrProtocol, shown(trust.Untrusted(string(line[:min(len(line), 80)]))), err)
	}
	messages, err := wire.DecodeMessages(line)
	if err != nil || len(messages) != 1 {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	switch m := messages[0]; {
	case m.IsResponse():
		c.answered(m)
	case m.IsNotification():
		if m.Method == "session/update" {
			return c.update(m.Params)
		}
	case m.Method == "session/request_permission":
		return c.permission(m)
	default: // such as files and terminals, which were not offered
		return c.refuse(m, wire.CodeMethodNotFound, "eventdeck does not offer this")
	}
	return nil
}

// refuse answers a request with an error.
func (c *Conn) refuse(m wire.Message, code int, why string) error {
	frame, err := wire.EncodeError(m.RawID, code, why, nil)
	if err != nil {
		return err
	}
	return c.tell(frame)
}

// answered passes an answer to the caller that waits for it. The answer to a prompt ends the turn
// here, so that it ends in the order of the agent's messages.
func (c *Conn) answered(m wire.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	to, ok := c.waiting[m.ID]
	if !ok {
		return // the caller has given up
	}
	delete(c.waiting, m.ID)
	if c.turn != nil && c.turn.id == m.ID {
		c.endTurn()
	}
	to <- m
}
