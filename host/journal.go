package host

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/redact"
	"eventdeck/host/session"
	"eventdeck/host/trust"
)

// Bounds of the frames and log lines that the host keeps for frontends.
const (
	wireFrames = 5000
	wireBytes  = 4 << 20
	wireClip   = 4 << 10 // of one frame
	wireEvents = 1000    // frames of events in a second; further ones are counted only
	logLines   = 2000
	logBytes   = 1 << 20
)

// journal keeps the newest frames of the wire and lines of the log for frontends.
type journal struct {
	*core
	wire        *eventlog.Ring[WireFrame]
	appLog      *eventlog.Ring[LogLine]
	eventFrames eventFrames
}

// newJournal returns a journal, which gets what is logged from now on.
func newJournal(c *core) *journal {
	j := &journal{
		core:   c,
		wire:   eventlog.NewRing[WireFrame](wireFrames, wireBytes),
		appLog: eventlog.NewRing[LogLine](logLines, logBytes),
	}
	c.opts.Log = slog.New(redact.Handler(&appLogHandler{next: c.opts.Log.Handler(), keep: j.addLine}, &c.secrets))
	return j
}

// WireFrame is a frame that was sent to a server or received from it.
type WireFrame struct {
	At     time.Time // UTC
	Server string
	Sent   bool
	Passed uint64     // frames of events since the previous kept frame that were not kept
	Frame  trust.Text // secrets masked, cut to 4 KiB
	Bytes  int        // whole length
}

// LogLine is a warning or an error of the program, or a line that a server logged: a
// notifications/message, or one that it wrote to its standard error.
type LogLine struct {
	At     time.Time // UTC
	Level  slog.Level
	Text   string // safe to print
	Server string // "" if it is about none
	Told   bool   // by a notifications/message of the server
}

// Wire implements [API].
func (j *journal) Wire() *eventlog.Ring[WireFrame] { return j.wire }

// AppLog implements [API].
func (j *journal) AppLog() *eventlog.Ring[LogLine] { return j.appLog }

// trace keeps a frame, and hands it to [Options.Trace]. It runs on the goroutine that reads or
// writes the wire.
func (j *journal) trace(server event.Server, d session.Direction, frame trust.Text, size int) {
	if j.opts.Trace != nil {
		j.opts.Trace(server.Name, string(d), frame)
	}
	if frame.Len() > wireClip {
		frame = trust.Untrusted(strings.Clone(frame.Raw()[:wireClip]))
	}
	j.wire.Add(WireFrame{At: j.opts.Now().UTC(), Server: server.Name, Sent: d == session.Sent, Frame: frame, Bytes: size, Passed: j.eventFrames.passed.Swap(0)}, frame.Len())
}

// eventFrames bounds how many frames of events are kept in a second.
type eventFrames struct {
	second atomic.Int64
	kept   atomic.Int64
	passed atomic.Uint64
}

// traceEvent reports whether the frame of an event is to be kept, which costs a copy and a search
// for secrets.
func (j *journal) traceEvent() bool {
	if j.opts.Trace != nil {
		return true
	}
	f := &j.eventFrames
	if now := j.opts.Now().Unix(); f.second.Swap(now) != now {
		f.kept.Store(0)
	}
	if f.kept.Add(1) <= wireEvents {
		return true
	}
	f.passed.Add(1)
	return false
}

// stderr keeps a line that a server's process wrote to its standard error.
func (j *journal) stderr(server string, line trust.Text) {
	if j.opts.OnStderr != nil {
		j.opts.OnStderr(server, line)
	}
	j.addLine(LogLine{At: j.opts.Now().UTC(), Level: slog.LevelInfo, Text: trust.Line(line).Plain(), Server: server})
	j.notify()
}

// message keeps a line of a server's log. Errors of MCP's levels, from error on, are errors here.
func (j *journal) message(server string, params json.RawMessage) {
	var m struct {
		Level, Logger string
		Data          json.RawMessage
	}
	if json.Unmarshal(params, &m) != nil {
		return
	}
	text := string(m.Data[:min(len(m.Data), wireClip)])
	if s := ""; json.Unmarshal(m.Data, &s) == nil {
		text = s[:min(len(s), wireClip)]
	}
	if m.Logger != "" {
		text = m.Logger + ": " + text
	}
	level := slog.LevelError // critical, alert and emergency too
	switch m.Level {
	case "debug", "info", "notice":
		level = slog.LevelInfo
	case "warning":
		level = slog.LevelWarn
	}
	j.addLine(LogLine{At: j.opts.Now().UTC(), Level: level, Text: j.secrets.String(trust.Line(trust.Untrusted(text)).Plain()), Server: server, Told: true})
	j.notify()
}

// addLine keeps a line of the log.
func (j *journal) addLine(l LogLine) { j.appLog.Add(l, len(l.Text)+len(l.Server)) }

// appLogHandler is a [slog.Handler] that keeps warnings and errors for frontends and hands
// everything on.
type appLogHandler struct {
	next   slog.Handler
	keep   func(LogLine)
	attrs  []string // key=value
	group  string   // prefix of the keys
	server string
}

// Enabled implements [slog.Handler].
func (h *appLogHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || h.next.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h *appLogHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		attrs := make([]slog.Attr, 0, r.NumAttrs())
		r.Attrs(func(a slog.Attr) bool {
			attrs = append(attrs, a)
			return true
		})
		line := h.with(attrs)
		text := strings.Join(append([]string{r.Message}, line.attrs...), " ")
		h.keep(LogLine{At: r.Time.UTC(), Level: r.Level, Text: trust.Line(trust.Unescaped(text)).Plain(), Server: line.server})
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// with returns a copy with more attributes. The attribute "server" has a field of its own.
func (h *appLogHandler) with(attrs []slog.Attr) *appLogHandler {
	out := *h
	out.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		value := a.Value.Resolve()
		if a.Key == "server" && h.group == "" && value.Kind() == slog.KindString {
			out.server = value.String()
			continue
		}
		out.attrs = append(out.attrs, fmt.Sprintf("%s%s=%v", h.group, a.Key, value.Any()))
	}
	return &out
}

// WithAttrs implements [slog.Handler].
func (h *appLogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := h.with(attrs)
	out.next = h.next.WithAttrs(attrs)
	return out
}

// WithGroup implements [slog.Handler].
func (h *appLogHandler) WithGroup(name string) slog.Handler {
	out := *h
	out.next = h.next.WithGroup(name)
	if name != "" {
		out.group += name + "."
	}
	return &out
}
