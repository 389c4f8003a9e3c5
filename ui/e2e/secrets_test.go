//go:build !windows

package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/signin/signintest"
)

// Secrets of the operator, by the variables in which they stand.
const (
	bearer    = "bearer-7f3kQzP0vLmW9sTtR4xY"
	apiKey    = "apikey-Zq81LmNx04TtVvB27cDe"
	oauthID   = "eventdeck-test"
	oauthKey  = "clientsecret-Hh5Jk29PpQwErTy"
	oauthWord = "issuedtoken-" // begins every token that the authority issues

	resumeToken = "resumetoken-Kd83LmQz07TtVvXxYy" // of a stream

	shown    = "headeroftherun-Uu82LmPq5XyZzAa" // on the command line
	audience = "audience-3rFq8PzLw0KdTtXm7Y"    // in payloads; hidden on a screen for an audience only
	webhook  = "keyofawebhook5Tt61MmLl08Ss"     // the same, within an address
)

// planted is no secret: it is the name of a server and in each payload, so that it is found
// wherever a secret could have leaked.
const planted = "planted-where-secrets-could-be"

// No secret of a run is in anything that the program wrote.
func TestSecretsStayInside(t *testing.T) {
	w := newWorld(t)
	w.vars = []string{"E2E_BEARER=" + bearer, "E2E_APIKEY=" + apiKey, "E2E_CLIENT=" + oauthKey}
	k := &keeper{t: t, wanted: func(r *http.Request) bool {
		return r.Header.Get("Authorization") == "Bearer "+bearer && r.Header.Get("X-Api-Key") == apiKey
	}}
	web := httptest.NewServer(k)
	t.Cleanup(web.Close)
	t.Cleanup(k.sending.Wait)

	var tokens atomic.Int64
	auth := signintest.New()
	auth.Override = func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/token" {
			return false
		}
		n := strconv.FormatInt(tokens.Add(1), 10)
		signintest.Answer(rw, http.StatusOK, map[string]any{
			"access_token": oauthWord + n + "-access", "token_type": "Bearer", "expires_in": 3600,
			"refresh_token": oauthWord + n + "-refresh",
		})
		return true
	}
	t.Cleanup(auth.Close)
	guarded := &keeper{t: t}
	signed := httptest.NewServer(nil)
	t.Cleanup(signed.Close)
	signed.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			signintest.Answer(rw, http.StatusOK, map[string]any{"resource": signed.URL + "/mcp", "authorization_servers": []string{auth.URL}})
			return
		}
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer "+oauthWord) {
			rw.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+signed.URL+`/.well-known/oauth-protected-resource/mcp"`)
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		guarded.ServeHTTP(rw, r)
	})
	guarded.wanted = func(*http.Request) bool { return true }

	config := filepath.Join(w.dir, "servers.json")
	if err := os.WriteFile(config, fmt.Appendf(nil, `{"mcpServers":{
		%q: {"url": "%s/mcp", "headers": {"Authorization": "Bearer ${E2E_BEARER}", "X-Api-Key": "${E2E_APIKEY}"}},
		"signed": {"url": "%s/mcp", "oauth": {"clientId": %q, "clientSecret": "${E2E_CLIENT}", "issuer": %q, "grant": "client_credentials"}}
	}}`, planted, web.URL, signed.URL, oauthID, auth.URL), 0o600); err != nil {
		t.Fatal(err)
	}

	left := evidence{t: t, texts: map[string]string{}}
	common := []string{"--data", w.data(), "--config", config, "--log", filepath.Join(w.dir, "log"), "--log-level", "debug"}
	run := func(want int, shows string, args ...string) string {
		t.Helper()
		return left.run(w, want, shows, args, common)
	}
	traced := run(0, planted, "tail", planted, "load.tick", "--mode", "webhook", "--count", "2", "--json", "--raw", "--trace")
	if !strings.Contains(traced, "whsec_…") || !strings.Contains(traced, `"events/subscribe"`) {
		t.Errorf("the trace does not show a masked secret:\n%s", traced)
	}
	_, id, _ := strings.Cut(run(0, planted, "subs", "list", "--json"), `{"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	run(0, "", "subs", "rotate", id)
	run(1, "no.such.type", "tail", planted, "no.such.type", "--trace", "--for", awaited)
	run(0, "signed", "sign-in", "signed")
	run(0, "load.tick", "types", "signed", "--json")
	run(0, planted, "tail", "signed", "load.tick", "--mode", "webhook", "--count", "1", "--json", "--trace")
	if tokens.Load() == 0 {
		t.Fatal("nobody signed in")
	}
	held := filepath.Join(w.dir, "held")
	p := w.start(nil, "tail", planted, "held.tick", "--mode", "push", "--count", "1", "--json", "--trace", "--data", held, "--config", config)
	if code := p.wait(); code != 0 || !strings.Contains(p.stderr.text(), `"resumeToken":"…`) {
		t.Errorf("a stream that can be resumed: code %d\n%s", code, p.stderr.text())
	}
	left.keep("the stream", planted, p.stdout.text()+p.stderr.text())
	registrar := httptest.NewServer(http.HandlerFunc(registrar))
	t.Cleanup(registrar.Close)
	for _, typ := range []string{"event://raw", "event://standard"} {
		p := w.start(nil, "tail", registrar.URL+"/mcp", typ, "--mode", "webhook", "--trace", "--data", held)
		p.await(p.stderr, 1, func(s string) bool { return strings.Contains(s, "webhookSecret") && strings.Contains(s, "…") })
		p.signal(os.Interrupt)
		p.wait()
		left.keep("the registration for "+typ, typ, p.stdout.text()+p.stderr.text())
	}
	w.lookInto(&left, append([]string{"tail", planted, "load.tick", "--mode", "webhook", "--for", awaited, "--header", "X-Shown: " + shown}, common...))

	w.askMCP(&left, common...)

	// The screen: first as usual, then for an audience until the program dies.
	snapshots := filepath.Join(w.data(), "snapshot-*.db")
	for _, old := range glob(t, snapshots) { // it may be of a time without secrets
		if err := os.Remove(old); err != nil {
			t.Fatal(err)
		}
	}
	s := w.terminalWith(nil, 200, 50, common...)
	s.visit(&left, "the screen", audience)
	for deadline := time.After(patience); len(glob(t, snapshots)) == 0; {
		select {
		case <-deadline:
			t.Fatal("no snapshot was made")
		case <-time.After(10 * time.Millisecond): // another process makes it
		}
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.end()
	env, die := w.mortal([]string{envPanic + "=1", envFailpoint + "=committed:1"})
	s = w.terminalWith(env, 200, 50, append(common, "--present")...)
	s.visit(&left, "the screen for an audience", "***")
	k.mu.Lock()
	hook, newest := k.hook, event.NewSecret(k.secrets[len(k.secrets)-1])
	k.mu.Unlock()
	wrong := event.NewSecret("whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if got := k.send(hook, wrong, 1); got != http.StatusUnauthorized {
		t.Errorf("a delivery with a wrong signature is answered %d", got)
	}
	die()
	k.send(hook, newest, 1)
	s.end()
	left.keep("the screen at the end", "panic", s.screen.Text())

	run(0, planted, "events", "--json", "--raw")
	run(0, planted, "audit", "--json")
	for _, format := range []string{"ndjson", "csv", "cloudevents"} {
		run(0, planted, "export", "--format", format)
	}
	run(0, planted, "subs", "list")
	run(0, planted, "servers", "--json")
	run(0, `"records"`, "store", "info", "--json")
	run(0, "", "store", "check")
	backup := filepath.Join(w.dir, "backup")
	run(0, "", "store", "backup", backup)
	run(0, "", "store", "restore", backup)
	run(0, planted, "events", "--json", "--limit", "1") // out of what was restored

	find := search{}
	find.add("bearer token", bearer)
	find.add("header", apiKey)
	find.add("header of the run", shown)
	find.add("client secret", oauthKey)
	find["issued token"] = []byte(oauthWord)
	find.add("resume token", resumeToken)
	find.add("raw secret of a server", rawSecret)
	find.add("standard secret of a server", standardSecret)
	keys := []string{filepath.Join(w.data(), "state.key"), filepath.Join(held, "state.key")}
	for i, path := range keys {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		find.key(fmt.Sprintf("sealing key %d", i+1), strings.TrimSpace(string(text)))
	}
	for _, server := range []*keeper{k, guarded} {
		for i, secret := range server.secrets {
			find.add(fmt.Sprintf("webhook secret %d", i+1), secret)
		}
	}
	if len(k.secrets) < 2 || k.secrets[0] == k.secrets[len(k.secrets)-1] {
		t.Errorf("the secret was not rotated: %d secrets", len(k.secrets))
	}
	left.files(w.dir, map[string]string{
		filepath.Join(w.data(), "state.db"): planted, snapshots: planted, backup: planted, // as a core of the store holds it
		filepath.Join(w.dir, "log"):                            "delivery taken", // nothing makes it name a server in every run
		filepath.Join(held, "state.db"):                        planted,
		filepath.Join(w.dir, "*", "eventdeck", "crashes", "*"): "main_test.go:",
	})
	for _, path := range keys {
		delete(left.texts, path) // where they belong
	}
	left.holds(find)
	for where, text := range left.texts {
		if strings.HasPrefix(where, "the screen for an audience") {
			if found := (search{"masked member": []byte(audience), "key in an address": []byte(webhook)}).finds([]byte(text)); len(found) > 0 {
				t.Errorf("%s shows the %s", where, found)
			}
		}
	}
}
