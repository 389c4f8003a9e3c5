package demo

import (
	"net/http"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// hold answers a call with a stream, unless MaxStreams are open. say writes the stream, and returns
// nil when the server ends it.
func (p *Pager) hold(w http.ResponseWriter, c call, say func(*eventserver.SSE) error) {
	select {
	case p.streams <- struct{}{}:
		defer func() { <-p.streams }()
	default:
		p.answerRefusal(w, c.id, eventserver.TooMany("open streams", "streams", p.opts.MaxStreams))
		return
	}
	out := eventserver.StartSSE(w)
	if say(out) == nil {
		out.Finish(c.id, pagerInfo())
	}
}

// serveStream answers events/stream.
func (p *Pager) serveStream(w http.ResponseWriter, r *http.Request, c call) {
	wanted, f := p.resolve(c.params, "push", time.Now())
	if f != nil {
		p.answerRefusal(w, c.id, f)
		return
	}
	p.hold(w, c, func(out *eventserver.SSE) error {
		s := &stream{engine: &p.engine, requested: wanted, id: c.id, heartbeat: p.opts.Heartbeat, out: out.Sink()}
		err := s.run(r.Context())
		if err != nil && r.Context().Err() == nil {
			p.opts.Log.Debug("stream ended", "type", wanted.kind.name, "error", err)
			return err
		}
		return nil
	})
}

// serveListen answers subscriptions/listen: notifications outside of requests.
func (p *Pager) serveListen(w http.ResponseWriter, r *http.Request, c call) {
	listChanged, acknowledged, f := eventserver.ReadListen(c.params)
	if f != nil {
		p.answerRefusal(w, c.id, f)
		return
	}
	p.hold(w, c, func(out *eventserver.SSE) error {
		send := func(method string, params map[string]any) error {
			return out.Write(out.Sink().AppendNote(nil, method, params, c.id, p.profile))
		}
		if err := send(wire.NoteAcknowledged, acknowledged); err != nil {
			return err
		}
		beat := time.NewTicker(p.opts.Heartbeat)
		defer beat.Stop()
		var change <-chan time.Time // of the list of types
		for {
			if next := p.nextChange(time.Now()); listChanged && !next.IsZero() {
				change = time.After(time.Until(next))
			}
			var err error
			select {
			case <-r.Context().Done():
				return nil
			case <-beat.C:
				err = out.Write([]byte(": alive\n\n"))
			case <-change:
				err = send(wire.NoteListChanged, map[string]any{})
			}
			if err != nil {
				return err
			}
		}
	})
}
