package eventserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"time"

	"eventdeck/host/wire"
)

// MaxRequest bounds the body of a request, in bytes.
const MaxRequest = 1 << 20

// ReadRequest reads the one JSON-RPC request of a call over Streamable HTTP. It is false if the
// call is answered already: for anything else, and for notifications, which it returns.
func ReadRequest(w http.ResponseWriter, r *http.Request) (wire.Message, bool) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return wire.Message{}, false
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "application/json only", http.StatusUnsupportedMediaType)
		return wire.Message{}, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequest))
	if err != nil {
		status := http.StatusBadRequest
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the request cannot be read", status)
		return wire.Message{}, false
	}
	messages, err := wire.DecodeMessages(body)
	if err != nil || len(messages) != 1 || messages[0].Method == "" {
		code := wire.CodeInvalidRequest
		if !json.Valid(body) {
			code = wire.CodeParse
		}
		answerError(w, nil, http.StatusBadRequest, code, "one JSON-RPC request expected", nil)
		return wire.Message{}, false
	}
	if messages[0].IsNotification() {
		w.WriteHeader(http.StatusAccepted)
		return messages[0], false
	}
	return messages[0], true
}

// HeadersFit checks the headers against the body (2026-07-28). If they differ, it has refused the
// request.
func HeadersFit(w http.ResponseWriter, h http.Header, m wire.Message) bool {
	inBody, inHeader := Version(m.Params), h.Get("Mcp-Protocol-Version")
	asked := inHeader
	if asked == "" {
		asked = inBody
	}
	if asked != Modern {
		f := BadVersion(asked)
		answerError(w, m.RawID, http.StatusBadRequest, wire.CodeUnsupportedVersion, f.Message, f.Data)
		return false
	}
	message := ""
	switch {
	case inHeader == "":
		message = "the header MCP-Protocol-Version is missing"
	case inBody == "":
		answerError(w, m.RawID, http.StatusBadRequest, wire.CodeInvalidParams, "_meta lacks "+metaVersion, map[string]any{"field": "_meta"})
		return false
	case inHeader != inBody:
		message = "MCP-Protocol-Version differs from _meta"
	case h.Get("Mcp-Method") == "":
		message = "the header Mcp-Method is missing"
	case h.Get("Mcp-Method") != m.Method:
		message = "Mcp-Method differs from the method"
	default:
		return true
	}
	answerError(w, m.RawID, http.StatusBadRequest, wire.CodeHeaderMismatch, message, nil)
	return false
}

// AnswerResult answers a request.
func AnswerResult(w http.ResponseWriter, id json.RawMessage, result map[string]any) {
	frame, err := wire.EncodeResult(id, result)
	if err != nil {
		answerError(w, id, http.StatusInternalServerError, wire.CodeInternal, "the result cannot be encoded", nil)
		return
	}
	answer(w, http.StatusOK, frame)
}

// AnswerRefusal refuses a request. The statuses are those of 2026-07-28. Clients that begin with
// initialize, which get the codes of the design sketch, take 404 for the end of their session: for
// them every refusal is 200 (2025-11-25, Streamable HTTP).
func AnswerRefusal(w http.ResponseWriter, id json.RawMessage, f *Refusal, p wire.Profile) {
	status := http.StatusOK
	switch {
	case p == wire.ProfileSketch:
	case f.Name == wire.MethodNotFound:
		status = http.StatusNotFound
	case f.Name == wire.InvalidParams:
		status = http.StatusBadRequest
	}
	answerError(w, id, status, f.Code(p), f.Message, f.Data)
}

// answerError answers a request with an error.
func answerError(w http.ResponseWriter, id json.RawMessage, status, code int, message string, data map[string]any) {
	var told any
	if data != nil {
		told = data
	}
	frame, err := wire.EncodeError(id, code, message, told)
	if err != nil {
		http.Error(w, "the error cannot be encoded", http.StatusInternalServerError)
		return
	}
	answer(w, status, frame)
}

func answer(w http.ResponseWriter, status int, frame []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(frame) // the peer may be gone; it will ask again
}

// SSE is a response that is an event stream.
type SSE struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// StartSSE begins the response.
func StartSSE(w http.ResponseWriter) *SSE {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &SSE{w, http.NewResponseController(w)}
}

// Write sends whole lines of the stream. It blocks while the peer does not read.
func (s *SSE) Write(lines []byte) error {
	if _, err := s.w.Write(lines); err != nil {
		return err
	}
	return s.control.Flush()
}

// Sink returns a sink that sends each message as the data of an event.
func (s *SSE) Sink() Sink { return Sink{Write: s.Write, Open: "data: ", Close: "\n\n"} }

// Finish sends the result of a stream that the server ends.
func (s *SSE) Finish(id json.RawMessage, info map[string]any) {
	frame, err := wire.EncodeResult(id, Completed(map[string]any{"_meta": map[string]any{wire.MetaSubscription: id}}, info))
	if err == nil {
		_ = s.Write(s.Sink().appendFrame(nil, frame)) // nothing depends on it
	}
}

// NewHTTP returns a server whose requests end with ctx, with bounds for untrusted clients. With h2c
// it speaks HTTP/2 without TLS too.
func NewHTTP(ctx context.Context, handler http.Handler, h2c bool, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(h2c)
	return &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		Protocols:         protocols,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// ServeUntil serves until ctx is done. Then it calls cancel, waits for the open requests, and calls
// settle. name names the server in errors.
func ServeUntil(ctx context.Context, cancel context.CancelFunc, srv *http.Server, ln net.Listener, name string, settle func()) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		failed <- nil
	}
	cancel()
	grace, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	if srv.Shutdown(grace) != nil {
		srv.Close()
	}
	<-failed
	settle()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("%s stopped serving: %w", name, err)
	}
	return nil
}
