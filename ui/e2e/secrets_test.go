//go:build !windows

package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/signin/signintest"
)

// Secrets of the operator, by the variables in which they stand.
const (
	bearer    = "bearer-7f3kQzP0vLmW9sTtR4xY"
	apiKey    = "apikey-Zq81LmNx04TtVvB27cDe"
	oauthID   = "eventdeck-test"
	oauthKey  = "clientsecret-Hh5Jk29PpQwErTy"
	oauthWord = "issuedtoken-" // begins every token that the authority issues
)

// keeper is an MCP server that grants webhook subscriptions and delivers two events
// after each subscribe and refresh. It knows every secret that it was told.
type keeper struct {
	t      *testing.T
	wanted func(r *http.Request) bool // is the caller allowed

	mu      sync.Mutex
	serial  int
	hook    string
	secrets []string
	sending sync.WaitGroup
}

// ServeHTTP implements [http.Handler].
func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Delivery struct{ URL, Secret string }
		}
	}
	if err != nil || r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if !k.wanted(r) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if len(m.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	// A server that says too much: it repeats what it was told.
	result := fmt.Sprintf(`"error":{"code":-32601,"message":"no such method","data":{"params":%s}}`, body)
	switch m.Method {
	case "server/discover":
		result = `"result":{"supportedVersions":["2026-07-28"],"capabilities":{"events":{}},"serverInfo":{"name":"keeper","version":"1"}}`
	case "events/list":
		result = `"result":{"events":[{"name":"load.tick","delivery":["webhook"]}]}`
	case "events/subscribe":
		k.mu.Lock()
		k.hook = m.Params.Delivery.URL
		k.secrets = append(k.secrets, m.Params.Delivery.Secret)
		k.mu.Unlock()
		k.sending.Go(func() { k.send(m.Params.Delivery.URL, event.NewSecret(m.Params.Delivery.Secret), 2) })
		result = fmt.Sprintf(`"result":{"id":"remote","refreshBefore":null,"cursor":null,"secret":%q}`, m.Params.Delivery.Secret)
	case "events/unsubscribe":
		result = `"result":{}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, result)
}

// send makes deliveries. A receiver that has ended meanwhile is no mistake.
func (k *keeper) send(url string, secret event.Secret, n int) (status int) {
	client := &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
	for range n {
		k.mu.Lock()
		k.serial++
		id := fmt.Sprintf("evt_%d", k.serial)
		k.mu.Unlock()
		body := fmt.Sprintf(`{"eventId":%q,"name":"load.tick","timestamp":"2026-02-19T16:00:00Z","data":{"id":%q}}`, id, id)
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

// search holds whatever the program left against the secrets of the run.
type search struct {
	t     *testing.T
	clear map[string][]byte // what must not be found, by what it is
}

func (s *search) add(what, secret string) {
	s.clear[what] = []byte(secret)
	s.clear[what+" in base64"] = []byte(strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "="))
	s.clear[what+" in hex"] = []byte(hex.EncodeToString([]byte(secret)))
	if text, ok := strings.CutPrefix(secret, "whsec_"); ok {
		s.clear[what+" without its prefix"] = []byte(text)
		if key, err := base64.StdEncoding.DecodeString(text); err == nil {
			s.clear[what+" decoded"] = key
		}
	}
}

func (s *search) in(where string, text []byte) {
	s.t.Helper()
	for what, secret := range s.clear {
		if at := bytes.Index(text, secret); at >= 0 {
			s.t.Errorf("%s holds the %s: …%q…", where, what, text[max(0, at-80):at])
		}
	}
}

// No secret of a run is in anything that the program wrote.
func TestSecretsStayInside(t *testing.T) {
	notUnderRace(t)
	t.Setenv("E2E_BEARER", bearer)
	t.Setenv("E2E_APIKEY", apiKey)
	t.Setenv("E2E_CLIENT", oauthKey)
	w := newWorld(t)
	k := &keeper{t: t, wanted: func(r *http.Request) bool {
		return r.Header.Get("Authorization") == "Bearer "+bearer && r.Header.Get("X-Api-Key") == apiKey
	}}
	web := httptest.NewServer(k)
	t.Cleanup(web.Close)
	t.Cleanup(k.sending.Wait)

	tokens := 0
	auth := signintest.New()
	auth.Override = func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/token" {
			return false
		}
		tokens++
		signintest.Answer(rw, http.StatusOK, map[string]any{
			"access_token": oauthWord + strconv.Itoa(tokens) + "-access", "token_type": "Bearer", "expires_in": 3600,
			"refresh_token": oauthWord + strconv.Itoa(tokens) + "-refresh",
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
		"static": {"url": "%s/mcp", "headers": {"Authorization": "Bearer ${E2E_BEARER}", "X-Api-Key": "${E2E_APIKEY}"}},
		"signed": {"url": "%s/mcp", "oauth": {"clientId": %q, "clientSecret": "${E2E_CLIENT}", "grant": "client_credentials"}}
	}}`, web.URL, signed.URL, oauthID), 0o600); err != nil {
		t.Fatal(err)
	}

	outputs := map[string]string{}
	run := func(want int, args ...string) string {
		t.Helper()
		p := w.start(nil, append(args, "--data", w.data(), "--config", config, "--log", filepath.Join(w.dir, "log"), "--log-level", "debug")...)
		code := p.wait()
		if code != want {
			t.Errorf("%s: code %d, want %d\n%s%s", p.name, code, want, p.stdout.text(), p.stderr.text())
		}
		outputs[p.name] = p.stdout.text() + p.stderr.text()
		return outputs[p.name]
	}
	outputs["first"] = run(0, "tail", "static", "load.tick", "--mode", "webhook", "--count", "2", "--json", "--raw", "--trace")
	_, id, _ := strings.Cut(run(0, "subs", "list", "--json"), `{"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	run(0, "subs", "rotate", id)
	run(1, "tail", "static", "no.such.type", "--trace", "--for", "1s")
	run(0, "sign-in", "signed")
	run(0, "types", "signed", "--json")
	run(0, "tail", "signed", "load.tick", "--mode", "webhook", "--count", "1", "--trace")
	if tokens == 0 {
		t.Fatal("nobody signed in")
	}

	// The screen, first as always, then for an audience, until it dies.
	look := func(env []string, args ...string) *terminal {
		return w.terminalWith(env, 200, 50, append(args, "--data", w.data(), "--config", config, "--log", filepath.Join(w.dir, "log.screen"), "--log-level", "debug")...)
	}
	s := look(nil)
	s.reads("load.tick")
	for _, visit := range []struct{ keys, shows string }{
		{"4", "[Subscriptions]"}, {"]]", "[At servers]"}, {"]", "[Refused]"}, {"5", "[Audit]"}, {"]", "[Wire]"}, {"\r", "events/"}, {esc + "]", "[App]"},
	} {
		s.keys(visit.keys)
		s.reads(visit.shows)
		outputs["the screen at "+visit.shows] = s.screen.Text()
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.ended:
	case <-time.After(patience):
		t.Fatalf("the screen does not end\n%s", s.screen.Text())
	}
	env, die := w.mortal([]string{envPanic + "=1", envFailpoint + "=committed:2"})
	s = look(env, "--present")
	s.sees("a first frame", func(text string) bool { return s.screen.Alternate() && strings.TrimSpace(text) != "" })
	outputs["the screen for an audience"] = s.screen.Text()
	die()
	k.mu.Lock()
	hook, newest := k.hook, event.NewSecret(k.secrets[len(k.secrets)-1])
	k.mu.Unlock()
	deadline := time.After(patience)
	wrong := event.NewSecret("whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	for refused, over := false, false; !over; {
		refused = refused || k.send(hook, wrong, 1) == http.StatusUnauthorized
		if refused {
			k.send(hook, newest, 1)
		}
		select {
		case <-s.ended:
			over = true
		case <-deadline:
			t.Fatalf("the screen did not die\n%s", s.screen.Text())
		case <-time.After(10 * time.Millisecond): // the receiver may not listen yet
		}
	}
	outputs["the screen at the end"] = s.screen.Text()

	run(0, "events", "--json", "--raw")
	run(0, "audit", "--json")
	run(0, "export")
	run(0, "export", "--format", "cloudevents")
	run(0, "subs", "list")
	run(0, "servers", "--json")
	run(0, "store", "info", "--json")
	run(0, "store", "check")
	run(0, "store", "backup", filepath.Join(w.dir, "backup"))
	if reports, err := filepath.Glob(filepath.Join(w.dir, "*", "eventdeck", "crashes", "*")); err != nil || len(reports) == 0 {
		t.Errorf("no crash report: %v; it ended with %v and showed\n%s", err, s.cmd.ProcessState, outputs["the screen at the end"])
	}

	if traced := outputs["first"]; !strings.Contains(traced, "whsec_…") || !strings.Contains(traced, `"events/subscribe"`) {
		t.Errorf("the trace does not show a masked secret:\n%s", traced)
	}
	find := &search{t, map[string][]byte{}}
	find.add("bearer token", bearer)
	find.add("header", apiKey)
	find.add("client secret", oauthKey)
	find.clear["issued token"] = []byte(oauthWord)
	for _, server := range []*keeper{k, guarded} {
		for i, secret := range server.secrets {
			find.add(fmt.Sprintf("webhook secret %d", i+1), secret)
		}
	}
	if len(k.secrets) < 2 || k.secrets[0] == k.secrets[len(k.secrets)-1] {
		t.Errorf("the secret was not rotated: %d secrets", len(k.secrets))
	}
	for where, text := range outputs {
		find.in(where, []byte(text))
	}
	files := 0
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		find.in(path, text)
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}
