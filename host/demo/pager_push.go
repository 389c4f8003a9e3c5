package demo

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// slot takes one of the bounded number of streams. It is nil when none is left, which
// is the answer to the call.
func (p *Pager) slot(w http.ResponseWriter, c call) (release func()) {
	select {
	case p.streams <- struct{}{}:
		return func() { <-p.streams }
	default:
		p.answerRefusal(w, c.id, eventserver.TooMany("open streams", "streams", p.opts.MaxStreams))
		return nil
	}
}

// serveStream answers events/stream.
func (p *Pager) serveStream(w http.ResponseWriter, r *http.Request, c call) {
	wanted, f := p.resolve(c.params, "push", time.Now())
	if f != nil {
		p.answerRefusal(w, c.id, f)
		return
	}
	release := p.slot(w, c)
	if release == nil {
		return
	}
	defer release()
	out := eventserver.StartSSE(w)
	s := &stream{engine: &p.engine, requested: wanted, id: c.id, heartbeat: p.opts.Heartbeat, revoked: p.revocation(),
		write: out.Write, open: eventserver.SSEOpen, close: eventserver.SSEClose}
	if err := s.run(r.Context()); err != nil && r.Context().Err() == nil {
		p.opts.Log.Debug("stream ended", "type", wanted.kind.name, "error", err)
		return
	}
	out.Finish(c.id, pagerInfo())
}

// serveListen answers subscriptions/listen: notifications outside of requests.
func (p *Pager) serveListen(w http.ResponseWriter, r *http.Request, c call) {
	var params struct {
		Notifications map[string]json.RawMessage `json:"notifications"`
	}
	if f := eventserver.Decode(c.params, &params); f != nil {
		p.answerRefusal(w, c.id, f)
		return
	}
	release := p.slot(w, c)
	if release == nil {
		return
	}
	defer release()
	honoured := map[string]any{}
	var wanted bool
	if json.Unmarshal(params.Notifications["eventsListChanged"], &wanted) == nil && wanted {
		honoured["eventsListChanged"] = true
	}
	out := eventserver.StartSSE(w)
	if p.listen(r.Context(), out, c.id, honoured) == nil {
		out.Finish(c.id, pagerInfo())
	}
}

// listen returns nil when the server ends it.
func (p *Pager) listen(ctx context.Context, out *eventserver.SSE, id json.RawMessage, honoured map[string]any) error {
	meta := map[string]any{wire.MetaSubscription: id}
	send := func(method string, params map[string]any) error {
		frame, err := wire.EncodeNotification(method, params)
		if err != nil {
			return err
		}
		return out.Frame(frame)
	}
	if err := send("notifications/subscriptions/acknowledged", map[string]any{"notifications": honoured, "_meta": meta}); err != nil {
		return err
	}
	beat := time.NewTicker(p.opts.Heartbeat)
	defer beat.Stop()
	change := time.NewTimer(time.Hour)
	defer change.Stop()
	for {
		if next := p.nextChange(time.Now()); !next.IsZero() && honoured["eventsListChanged"] == true {
			change.Reset(max(0, time.Until(next)))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			if err := out.Write([]byte(": alive\n\n")); err != nil {
				return err
			}
		case <-change.C:
			if honoured["eventsListChanged"] != true {
				continue
			}
			if err := send(wire.NoteListChanged, map[string]any{"_meta": meta}); err != nil {
				return err
			}
		}
	}
}
