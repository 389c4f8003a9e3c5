package receiver

import (
	"net/http"

	"eventdeck/host/trust"
)

// WellKnown is the path of the document in which the receiver names the paths at which it
// takes deliveries (SEP-3415, webhook). A server may accept it instead of a challenge.
const WellKnown = "/.well-known/mcp-webhook-receiver.json"

// PathPrefix begins every path at which deliveries are taken.
const PathPrefix = "/hooks/"

// serveWellKnown answers with the document. It reveals no subscription.
func (h *handler) serveWellKnown(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	setSafeHeaders(header)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	header.Set("Content-Type", "application/json")
	body := append(trust.AppendJSONString([]byte(`{"receivers":[`), h.o.Prefix+PathPrefix), "]}\n"...)
	if _, err := w.Write(body); err != nil {
		h.o.Log.Debug("the receiver's document was not sent", "err", err)
	}
}
