package sim

import (
	"encoding/json"
	"fmt"
	"net/http"

	"eventdeck/host/wire"
)

// answerer answers one request.
type answerer struct {
	w  http.ResponseWriter
	id json.RawMessage
}

func (a answerer) send(message map[string]any) {
	message["jsonrpc"], message["id"] = "2.0", a.id
	raw, err := json.Marshal(message)
	if err != nil {
		panic(fmt.Sprint("an answer of the model: ", err))
	}
	a.w.Header().Set("Content-Type", "application/json")
	_, _ = a.w.Write(raw) // the peer may be gone
}

func (a answerer) result(r map[string]any) { a.send(map[string]any{"result": r}) }

func (a answerer) fail(code int, message string, data any) {
	a.send(map[string]any{"error": map[string]any{"code": code, "message": message, "data": data}})
}

func (a answerer) open() {
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(a.w).Flush() // the peer may be gone
}

func (a answerer) note(method string, params map[string]any) error {
	params["_meta"] = map[string]any{wire.MetaSubscription: a.id}
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	if err != nil {
		panic(fmt.Sprint("a notification of the model: ", err))
	}
	return a.frame(raw)
}

func (a answerer) frame(raw []byte) error {
	return a.write(append(append([]byte("data: "), raw...), "\n\n"...))
}

func (a answerer) write(raw []byte) error {
	if _, err := a.w.Write(raw); err != nil {
		return err
	}
	return http.NewResponseController(a.w).Flush()
}
