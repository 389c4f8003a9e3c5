//go:build !windows

package e2e

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/receiver"
)

// keeper is an MCP server that grants webhook subscriptions and delivers two events after each
// subscribe and refresh, and opens resumable streams with one event. It records every secret
// that it is told.
type keeper struct {
	t      *testing.T
	wanted func(r *http.Request) bool // is the caller allowed
	// repeats makes a server that repeats, in everything it says of itself and in each
	// refusal, the secret that it was told, and refuses every subscribe but the first. nil: it
	// repeats the secret in results only. known reports whether the process that asks knows
	// the secret: another process masks only what looks like a secret, and no key without its
	// prefix.
	repeats func(r *http.Request, secret string, known bool) string

	mu      sync.Mutex
	serial  int
	hook    string
	secrets []string
	sending sync.WaitGroup
}

// ServeHTTP implements [http.Handler].
func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && !k.wanted(r) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	m, ok := mcptest.Read(w, r)
	if !ok {
		return
	}
	says := "keeper"
	if k.repeats != nil {
		k.mu.Lock()
		secret := m.Params.Delivery.Secret
		known := secret != ""
		if n := len(k.secrets); n > 0 && !known {
			secret = k.secrets[n-1]
		}
		says = k.repeats(r, secret, known)
		k.mu.Unlock()
	}
	// This server says too much: it repeats the request.
	result := fmt.Sprintf(`"error":{"code":-32601,"message":"no such method","data":{"params":%s}}`, m.Body)
	switch m.Method {
	case "server/discover":
		result = `"result":{"supportedVersions":["2026-07-28"],"capabilities":{"events":{}},"serverInfo":{"name":"keeper","version":` + strconv.Quote(says) + `}}`
	case "events/list":
		result = `"result":{"events":[{"name":"load.tick","description":` + strconv.Quote(says) + `,"delivery":["webhook"]},{"name":"held.tick","delivery":["push"]}]}`
	case "events/stream":
		k.stream(w, r, m.ID)
		return
	case "events/subscribe":
		k.mu.Lock()
		k.hook = m.Params.Delivery.URL
		k.secrets = append(k.secrets, m.Params.Delivery.Secret)
		first := len(k.secrets) == 1
		k.mu.Unlock()
		if k.repeats != nil && !first {
			result = fmt.Sprintf(`"error":{"code":-32603,"message":%q,"data":{"reason":%q}}`, says, says)
			break
		}
		k.sending.Go(func() { k.send(m.Params.Delivery.URL, event.NewSecret(m.Params.Delivery.Secret), 2) })
		result = fmt.Sprintf(`"result":{"id":"remote","refreshBefore":null,"cursor":null,"secret":%q,"deliveryStatus":{"active":true,"lastError":%q}}`, m.Params.Delivery.Secret, says)
	case "events/unsubscribe":
		result = `"result":{}`
	}
	m.Answer(w, result)
}

// stream holds a stream open until the host goes away.
func (k *keeper) stream(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
	w.Header().Set("Content-Type", "text/event-stream")
	meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, id)
	for _, note := range []string{
		fmt.Sprintf(`"method":"notifications/stream/create","params":{"requestId":%s,"streamId":"st","resumeToken":%q,"resumeInterval":{"min":1,"max":5}}`, id, resumeToken),
		fmt.Sprintf(`"method":"notifications/events/active","params":{%s}`, meta),
		fmt.Sprintf(`"method":"notifications/events/event","params":{"eventId":"held_1","name":"held.tick","timestamp":"2026-02-19T16:00:00Z","data":{"note":%q},%s}`, planted, meta),
	} {
		fmt.Fprintf(w, `data: {"jsonrpc":"2.0",%s}`+"\n\n", note)
	}
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// send makes deliveries. It ignores a receiver that has ended meanwhile.
func (k *keeper) send(url string, secret event.Secret, n int) (status int) {
	client := &http.Client{
		Timeout:   patience,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
	for range n {
		k.mu.Lock()
		k.serial++
		id := fmt.Sprintf("evt_%d", k.serial)
		k.mu.Unlock()
		body := fmt.Sprintf(`{"eventId":%q,"name":"load.tick","timestamp":"2026-02-19T16:00:00Z","data":{"id":%q,"note":%q,"password":%q,"hook":"https://hooks.example/services/T0/%s"}}`, id, id, planted, audience, webhook)
		now := time.Now()
		sig, err := receiver.Sign(secret, id, now, []byte(body))
		if err != nil {
			k.t.Error(err)
			return 0
		}
		req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			k.t.Error(err)
			return 0
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", receiver.HeaderID: id,
			receiver.HeaderTimestamp: strconv.FormatInt(now.Unix(), 10), receiver.HeaderSignature: sig,
		} {
			req.Header.Set(name, value)
		}
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
			status = resp.StatusCode
		}
	}
	return status
}
