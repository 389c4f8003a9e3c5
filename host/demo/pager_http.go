package demo

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"eventdeck/host/receiver"
	"eventdeck/host/wire"
)

const (
	modernVersion = "2026-07-28"
	maxRequest    = 1 << 20

	codeHeaderMismatch = -32020

	metaPrefix     = "io.modelcontextprotocol/"
	metaVersion    = metaPrefix + "protocolVersion"
	metaServerInfo = metaPrefix + "serverInfo"
)

// call is one request that passed the checks of the transport.
type call struct {
	id        json.RawMessage
	method    string
	params    json.RawMessage
	principal string // "" if the caller is anonymous
}

// reply is how a request is answered at once.
type reply struct {
	status  int
	code    int
	message string
	data    any
}

func (p *Pager) handler(loopback bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(PagerPath, func(w http.ResponseWriter, r *http.Request) {
		if loopback && !localRequest(r) {
			http.Error(w, "this server answers to loopback names only", http.StatusForbidden)
			return
		}
		p.serveMCP(w, r)
	})
	if key := p.hooks.key; key != nil {
		mux.HandleFunc(receiver.WellKnownKeys, serveKeys(key))
	}
	return mux
}

// localRequest keeps a web page from reaching a loopback server through a name
// of its own (DNS rebinding).
func localRequest(r *http.Request) bool {
	if !localHost(r.Host) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && localHost(u.Host)
}

func localHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

func (p *Pager) serveMCP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	principal, ok := p.principal(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="pager"`)
		http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "application/json only", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		status := http.StatusBadRequest
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the request cannot be read", status)
		return
	}
	messages, err := wire.DecodeMessages(body)
	if err != nil || len(messages) != 1 || messages[0].Method == "" {
		code := wire.CodeInvalidRequest
		if !json.Valid(body) {
			code = wire.CodeParse
		}
		answerError(w, nil, reply{http.StatusBadRequest, code, "one JSON-RPC request expected", nil})
		return
	}
	m := messages[0]
	if m.IsNotification() {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if bad := checkHeaders(r.Header, m); bad != nil {
		answerError(w, m.RawID, *bad)
		return
	}
	p.dispatch(w, r, call{id: m.RawID, method: m.Method, params: m.Params, principal: principal})
}

// principal tells on whose behalf a request comes. It is false for a caller
// that does not show the token.
func (p *Pager) principal(r *http.Request) (string, bool) {
	if !p.opts.Token.IsZero() {
		given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(given), []byte(p.opts.Token.Reveal())) != 1 {
			return "", false
		}
		return "token", true
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if p.opts.LoopbackPrincipal && err == nil && peer.Addr().Unmap().IsLoopback() {
		return "demo", true
	}
	return "", true
}

// checkHeaders holds the headers against the body, as 2026-07-28 wants it.
func checkHeaders(h http.Header, m wire.Message) *reply {
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &params) // params that are no object have no _meta
	var inBody string
	_ = json.Unmarshal(params.Meta[metaVersion], &inBody)
	inHeader := h.Get("Mcp-Protocol-Version")
	asked := inHeader
	if asked == "" {
		asked = inBody
	}
	if asked != modernVersion {
		return &reply{http.StatusBadRequest, wire.CodeUnsupportedVersion, "this server speaks " + modernVersion + " only",
			map[string]any{"supported": []string{modernVersion}, "requested": asked}}
	}
	mismatch := func(message string) *reply {
		return &reply{http.StatusBadRequest, codeHeaderMismatch, message, nil}
	}
	switch {
	case inHeader == "":
		return mismatch("the header MCP-Protocol-Version is missing")
	case inBody == "":
		return &reply{http.StatusBadRequest, wire.CodeInvalidParams, "_meta lacks " + metaVersion, map[string]any{"field": "_meta"}}
	case inHeader != inBody:
		return mismatch("MCP-Protocol-Version differs from _meta")
	case h.Get("Mcp-Method") == "":
		return mismatch("the header Mcp-Method is missing")
	case h.Get("Mcp-Method") != m.Method:
		return mismatch("Mcp-Method differs from the method")
	}
	return nil
}

func (p *Pager) dispatch(w http.ResponseWriter, r *http.Request, c call) {
	var result map[string]any
	var f *refusal
	now := time.Now()
	switch c.method {
	case "server/discover":
		result = p.discover()
	case "ping":
		result = map[string]any{}
	case "tools/list":
		result = map[string]any{"tools": []any{}, "ttlMs": 60000, "cacheScope": "public"}
	case wire.MethodList:
		result, f = p.list(c.params, now)
	case wire.MethodPoll:
		result, _, f = p.poll(c.params, now)
	case wire.MethodStream:
		p.serveStream(w, r, c)
		return
	case "subscriptions/listen":
		p.serveListen(w, r, c)
		return
	case wire.MethodSubscribe:
		result, f = p.hooks.subscribe(r.Context(), c)
	case wire.MethodUnsubscribe:
		result, f = p.hooks.unsubscribe(c)
	default:
		f = &refusal{wire.MethodNotFound, "no such method", map[string]any{"method": c.method}}
	}
	if f != nil {
		p.answerRefusal(w, c.id, f)
		return
	}
	answerResult(w, c.id, result)
}

func (p *Pager) discover() map[string]any {
	events := map[string]any{"listChanged": true}
	capabilities := map[string]any{"tools": map[string]any{}, "extensions": map[string]any{wire.Extension: events}}
	if p.opts.TopLevel {
		capabilities["events"] = events
	}
	return map[string]any{
		"supportedVersions": []string{modernVersion},
		"capabilities":      capabilities,
		"serverInfo":        pagerInfo(),
		"instructions":      "A scripted incident. Subscribe to incident.activity to see all of it.",
		"ttlMs":             60000,
		"cacheScope":        "public",
	}
}

func pagerInfo() map[string]any {
	return map[string]any{"name": "pager", "title": "Pager (demo)", "version": "1.0.0"}
}

func completed(result map[string]any) map[string]any {
	result["resultType"] = "complete"
	meta, _ := result["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta[metaServerInfo] = pagerInfo()
	result["_meta"] = meta
	return result
}

func answerResult(w http.ResponseWriter, id json.RawMessage, result map[string]any) {
	frame, err := wire.EncodeResult(id, completed(result))
	if err != nil {
		answerError(w, id, reply{http.StatusInternalServerError, wire.CodeInternal, "the result cannot be encoded", nil})
		return
	}
	answer(w, http.StatusOK, frame)
}

// answerRefusal refuses a request. The statuses are those of 2026-07-28.
func (p *Pager) answerRefusal(w http.ResponseWriter, id json.RawMessage, f *refusal) {
	status := http.StatusOK
	switch f.name {
	case wire.MethodNotFound:
		status = http.StatusNotFound
	case wire.InvalidParams:
		status = http.StatusBadRequest
	}
	var data any
	if f.data != nil {
		data = f.data
	}
	answerError(w, id, reply{status, f.code(p.profile), f.message, data})
}

func answerError(w http.ResponseWriter, id json.RawMessage, e reply) {
	frame, err := wire.EncodeError(id, e.code, e.message, e.data)
	if err != nil {
		http.Error(w, "the error cannot be encoded", http.StatusInternalServerError)
		return
	}
	answer(w, e.status, frame)
}

func answer(w http.ResponseWriter, status int, frame []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(frame) // the peer may be gone; it will ask again
}

// sse answers a request with an event stream.
type sse struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

const (
	sseOpen  = "data: "
	sseClose = "\n\n"
)

func startSSE(w http.ResponseWriter) *sse {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &sse{w, http.NewResponseController(w)}
}

func (s *sse) write(frames []byte) error {
	if _, err := s.w.Write(frames); err != nil {
		return err
	}
	return s.control.Flush()
}

// frame sends one message.
func (s *sse) frame(message []byte) error {
	return s.write(slices.Concat([]byte(sseOpen), message, []byte(sseClose)))
}

// finish sends the result that ends a stream when the server ends it.
func (s *sse) finish(id json.RawMessage) {
	frame, err := wire.EncodeResult(id, completed(map[string]any{"_meta": map[string]any{wire.MetaSubscription: id}}))
	if err == nil {
		_ = s.frame(frame) // nothing depends on it
	}
}
