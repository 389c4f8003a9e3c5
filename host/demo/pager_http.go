package demo

import (
	"encoding/json"
	"net/http"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/receiver"
	"eventdeck/host/wire"
)

// call is one request that passed the checks of the transport.
type call struct {
	id        json.RawMessage
	method    string
	params    json.RawMessage
	principal string // "" if the caller is anonymous
}

func (p *Pager) handler(guard eventserver.Guard) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(PagerPath, func(w http.ResponseWriter, r *http.Request) {
		if !guard.Admit(w, r) {
			return
		}
		m, ok := eventserver.ReadRequest(w, r)
		if ok && eventserver.HeadersFit(w, r.Header, m) {
			p.dispatch(w, r, call{id: m.RawID, method: m.Method, params: m.Params, principal: p.principal(r)})
		}
	})
	if key := p.hooks.key; key != nil {
		mux.HandleFunc(receiver.WellKnownKeys, eventserver.ServeKeys(key))
	}
	return mux
}

// principal returns the principal of an admitted request, "" for an anonymous caller.
func (p *Pager) principal(r *http.Request) string {
	switch {
	case !p.opts.Token.IsZero():
		return "token"
	case p.opts.LoopbackPrincipal && eventserver.FromLoopback(r):
		return "demo"
	}
	return ""
}

func (p *Pager) dispatch(w http.ResponseWriter, r *http.Request, c call) {
	var result map[string]any
	var f *eventserver.Refusal
	now := time.Now()
	switch c.method {
	case "server/discover":
		result = p.discover()
	case "ping":
		result = map[string]any{}
	case "tools/list":
		result = p.listTools()
	case "tools/call":
		result, f = p.callTool(c.params)
	case wire.MethodList:
		result, f = p.list(c.params, now)
	case wire.MethodPoll:
		result, _, f = p.poll(c.params, now)
	case wire.MethodStream:
		p.serveStream(w, r, c)
		return
	case wire.MethodListen:
		p.serveListen(w, r, c)
		return
	case wire.MethodSubscribe:
		result, f = p.hooks.subscribe(r.Context(), c)
	case wire.MethodUnsubscribe:
		result, f = p.hooks.unsubscribe(c)
	default:
		f = eventserver.NoMethod(c.method)
	}
	if f != nil {
		p.answerRefusal(w, c.id, f)
		return
	}
	eventserver.AnswerResult(w, c.id, eventserver.Completed(result, pagerInfo()))
}

func (p *Pager) discover() map[string]any {
	return map[string]any{
		"supportedVersions": []string{eventserver.Modern},
		"capabilities":      eventserver.Capabilities(true),
		"serverInfo":        pagerInfo(),
		"instructions":      "A scripted incident. Subscribe to incident.activity to see all of it; get_incident and list_deploys tell more.",
		"ttlMs":             60000,
		"cacheScope":        "public",
	}
}

func pagerInfo() map[string]any {
	return map[string]any{"name": "pager", "title": "Pager (demo)", "version": "1.0.0"}
}

func (p *Pager) answerRefusal(w http.ResponseWriter, id json.RawMessage, f *eventserver.Refusal) {
	eventserver.AnswerRefusal(w, id, f, p.profile)
}
