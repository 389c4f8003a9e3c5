package host_test

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// parrot is a server that repeats the secrets that it was sent in everything that it says.
type parrot struct {
	mu     sync.Mutex
	secret string // of the webhook
	times  int    // that it was subscribed to
}

func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, ok := mcptest.Read(w, r)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := m.Params.Delivery.Secret; s != "" {
		p.secret = s
	}
	told := fmt.Sprintf("repeats %s and %s and %s.", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.URL.Query().Get("token"), p.secret)
	answer := `"error":{"code":-32601,"message":"no"}`
	switch m.Method {
	case "server/discover":
		answer = fmt.Sprintf(`"result":{"supportedVersions":["2026-07-28"],"serverInfo":{"name":%q,"version":%q},"capabilities":{"extensions":{"io.modelcontextprotocol/events":{}}}}`, told, told)
	case "events/list":
		answer = fmt.Sprintf(`"result":{"events":[{"name":"t","title":%q,"description":%q,"delivery":["webhook","poll"]},{"name":%q,"delivery":[]}]}`, told, told, told)
	case "events/poll":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, told)
		return
	case "events/subscribe":
		p.times++
		answer = fmt.Sprintf(`"result":{"id":"s","refreshBefore":null,"cursor":null,"deliveryStatus":{"active":false,"lastError":%q,"failedSince":%q}}`, told, told)
		if p.times > 1 {
			key := strings.TrimPrefix(p.secret, "whsec_")
			answer = fmt.Sprintf(`"error":{"code":-32603,"message":%q,"data":{"reason":%q,"delivery":{"secret":%q}}}`, told, "bad key "+key, key)
		}
	}
	m.Answer(w, answer)
}

// shownBy returns everything that a host has logged and recorded, by the name of its place.
func shownBy(t *testing.T, h *host.Host) map[string]string {
	t.Helper()
	shown := map[string]string{"the program's log": "", "the wire": "", "the records": "", "the audit log": ""}
	h.AppLog().After(0, func(_ uint64, l host.LogLine) bool { shown["the program's log"] += l.Text + "\n"; return true })
	h.Wire().After(0, func(_ uint64, f host.WireFrame) bool { shown["the wire"] += f.Frame.Raw() + "\n"; return true })
	if err := h.Log().Before(0, func(rec event.Record) bool {
		if rec.State != nil {
			shown["the records"] += rec.State.Evidence + rec.State.Error.Raw() + "\n"
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if err := h.Audit().Before(0, func(e event.AuditEntry) bool {
		shown["the audit log"] += fmt.Sprintln(e.Action, e.Result, e.Detail.Raw())
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return shown
}

// Whatever the server repeats, the host shows, stores and logs none of the secrets that it was sent:
// the webhook secret, the token, and the secret in its address.
func TestSecretsThatAServerRepeatsAreMasked(t *testing.T) {
	const bearer, token = "bearer-of-the-header", "token/in+the address"
	p := &parrot{}
	served := httptest.NewServer(p)
	t.Cleanup(served.Close)
	dir := t.TempDir()
	kept, err := store.Open(t.Context(), store.Options{Dir: dir, Keyring: seal.NoKeyring()})
	if err != nil {
		t.Fatal(err)
	}
	var out, traced mcptest.Buffer
	h, err := host.New(host.Options{
		Store: kept, CADir: t.TempDir(),
		Log:   slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Trace: func(_, direction string, frame trust.Text) { fmt.Fprintln(&traced, direction, frame.Raw()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, host: h}
	h.AddServer(event.Server{Name: "parrot", URL: served.URL + "/mcp?token=token%2Fin%2Bthe+address", Headers: map[string]event.Secret{"Authorization": event.NewSecret("Bearer " + bearer)}})
	see := map[string]string{}

	request := host.Request{Server: "parrot", Type: trust.Untrusted("t"), Mode: event.ModePoll}
	_, err = h.Subscribe(r.ctx(), request)
	see["the refusal"] = fmt.Sprint(err)
	request.Mode = event.ModeWebhook
	sub, err := h.Subscribe(r.ctx(), request)
	if err != nil {
		t.Fatal(err)
	}
	_ = h.Refresh(r.ctx(), sub.ID) // it may be answered by the end of the first attempt
	snap := r.await("the failure", func(snap host.Snapshot) bool { return !viewOf(snap, sub.ID).Status.Error.IsZero() })
	see["the refresh"] = fmt.Sprint(h.Refresh(r.ctx(), sub.ID))
	v, server := viewOf(snap, sub.ID), snap.Servers[0]
	see["the status"] = v.Status.Error.Raw() + v.Status.Lease.Status.LastError.Raw() + v.Status.Lease.Status.FailedSince.Raw() + v.Error.Raw()
	see["the server's name"] = server.Title.Raw() + server.Release.Raw()
	see["the types"] = server.Types[0].Title.Raw() + server.Types[0].Description.Raw()
	maps.Copy(see, shownBy(t, h))
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	see["the store"], see["the log"], see["the trace"] = string(file), out.String(), traced.String()

	p.mu.Lock()
	key := strings.TrimPrefix(p.secret, "whsec_")
	p.mu.Unlock()
	if key == "" {
		t.Fatal("the server got no webhook secret")
	}
	for where, text := range see {
		if !strings.Contains(text, "repeats ***") {
			t.Errorf("%s shows nothing masked, so nothing is proven:\n%.2000s", where, text)
		}
		for name, secret := range map[string]string{"the header": bearer, "the token": token, "the token as in the address": "token%2Fin", "the webhook secret": key[:20]} {
			if strings.Contains(text, secret) {
				at := strings.Index(text, secret)
				t.Errorf("%s shows %s: …%q", where, name, text[max(0, at-60):at])
			}
		}
	}
}
