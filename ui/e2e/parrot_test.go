//go:build !windows

package e2e

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"eventdeck/host/event"
)

// Secrets of an address and of other clients' files.
const (
	addressToken = "addresstoken-Xx41RrBn86KmLlQq"
	addressKey   = "T0addresskey9Yy27ZzCc4HhWw83Nn" // a part of its path
	importToken  = "importtoken-Ss57GgHh20WwVvCc"
	importFlag   = "importflag-Dd38JjKk91NnBbMm"
	importUser   = "importuser-Aa66PpLl15TtYyRr"
)

// repeated begins the text that the server repeats: it must be found wherever that is kept or
// shown, and the secrets behind it must not.
const repeated = "repeats-what-it-was-told"

// A server that is given by an address with a token repeats that token and the webhook secret
// in everything it says. Neither is in anything that the program wrote, nor are the secrets in
// servers that an import would take over.
func TestServersThatRepeatSecretsAreNotQuoted(t *testing.T) {
	w := newWorld(t)
	var told atomic.Int64 // requests with the whole address
	k := &keeper{t: t, wanted: func(r *http.Request) bool {
		told.Add(1)
		return r.URL.Query().Get("token") == addressToken
	}}
	k.repeats = func(r *http.Request, secret string, known bool) string {
		says := fmt.Sprintf("%s %s %s http://%s%s", repeated, r.URL.Query().Get("token"), secret, r.Host, r.URL.Path)
		if known {
			says += " " + strings.TrimPrefix(secret, "whsec_")
		}
		for _, clear := range []string{addressToken, addressKey} {
			says += " " + base64.StdEncoding.EncodeToString([]byte("ab"+clear)) + " " + hex.EncodeToString([]byte(clear)) + " " + url.QueryEscape(clear)
		}
		return says
	}
	web := httptest.NewServer(k)
	t.Cleanup(web.Close)
	t.Cleanup(k.sending.Wait)
	address := web.URL + "/" + addressKey + "/mcp?token=" + addressToken

	left := evidence{t: t, texts: map[string]string{}}
	common := []string{"--data", w.data(), "--log", filepath.Join(w.dir, "log"), "--log-level", "debug"}
	run := func(shows string, args ...string) string {
		t.Helper()
		p := w.start(nil, append(args, common...)...)
		p.wait()
		text := p.stdout.text() + p.stderr.text()
		left.keep(strings.NewReplacer(addressToken, "TOKEN", addressKey, "KEY").Replace(strings.Join(args, " ")), shows, text)
		return text
	}
	run("token=…#", "tail", address, "load.tick", "--mode", "webhook", "--count", "2", "--json")
	refused := w.start(nil, append([]string{"tail", address, "load.tick", "--mode", "webhook", "--from", "saved", "--for", awaited, "--trace"}, common...)...)
	refused.await(refused.stderr, 1, contains("-32603", repeated))
	stored := func() bool { // the state is what is looked for below
		p := w.start(nil, append([]string{"events", "--json"}, common...)...)
		p.wait()
		return strings.Contains(p.stdout.text(), repeated)
	}
	for range 600 {
		if stored() {
			break
		}
	}
	refused.signal(os.Interrupt)
	refused.wait()
	left.keep("the refused tail", repeated, refused.stdout.text()+refused.stderr.text())
	run(repeated, "types", address, "--json")
	run("token=…#", "servers", address)
	list := run(repeated, "subs", "list", "--json")
	if !strings.Contains(list, "token=…#") {
		t.Errorf("the server has no name:\n%s", list)
	}
	run("token=…#", "subs", "list")
	// By its name its types are listed as its events are followed.
	_, name, _ := strings.Cut(list, `"server":"`)
	name, _, _ = strings.Cut(name, `"`)
	if types := run(repeated, "types", name, "--json"); !strings.Contains(types, "load.tick") {
		t.Errorf("types of %s: %s", name, types)
	}
	if servers := run("", "servers", name); !strings.Contains(servers, "ready") && !strings.Contains(servers, "keeper") && !strings.Contains(servers, "2026-07-28") {
		t.Errorf("servers %s: %s", name, servers)
	}
	for _, command := range [][]string{{"events", "--json", "--raw"}, {"export", "--format", "ndjson"}, {"export", "--format", "csv"}, {"export", "--format", "cloudevents"}} {
		run("load.tick", command...)
	}
	run("token=…#", "export", "--format", "ndjson")
	run("token=…#", "audit", "--json")

	s := w.terminalWith(nil, 200, 50, append([]string{address}, common...)...)
	s.reads("load.tick")
	s.keys("1")
	s.reads("token=…")
	left.keep("the screen", "token=…", s.screen.Text())
	s.keys("4")
	s.reads("━ 4 ")
	for _, tab := range []string{"[Subscriptions]", "[At servers]"} {
		s.turnTo(tab)
		left.keep("the screen at "+tab, tab, s.screen.Text())
	}
	s.keys("5")
	s.reads("━ 5 ")
	for _, tab := range []string{"[Audit]", "[App]", "[Wire]"} {
		s.turnTo(tab)
		left.keep("the screen at "+tab, tab, s.screen.Text())
	}
	s.reads(repeated)
	left.keep("the screen of the wire", repeated, s.screen.Text())
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.end()

	// By its id the subscription is ended at the server, whose whole address is kept.
	_, id, _ := strings.Cut(list, `{"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	before := told.Load()
	run("", "subs", "rm", id)
	if told.Load() == before {
		t.Error("the server was not told of the end")
	}

	if err := os.MkdirAll(filepath.Join(w.dir, ".cursor"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, ".cursor", "mcp.json"), fmt.Appendf(nil, `{"mcpServers":{
		"by-address": {"url": "https://files.example/mcp?team=ops&token=%s"},
		"by-user": {"url": "https://%s@files.example/mcp"},
		"by-flag": {"command": "srv", "args": ["--api-key", %q, "--header", "Authorization: Bearer %s", "https://files.example/sse?key=%s"]}
	}}`, importToken, importUser, importFlag, importToken, importFlag), 0o600); err != nil {
		t.Fatal(err)
	}
	run("files.example/mcp?team=ops&token=…", "servers", "import")
	run("files.example/mcp?team=ops&token=…", "servers", "import", "--json")

	find := search{}
	find.add("token of the address", addressToken)
	find.add("key of the address", addressKey)
	find.add("token of a file", importToken)
	find.add("flag of a file", importFlag)
	find.add("user of a file", importUser)
	if len(k.secrets) == 0 {
		t.Fatal("no webhook secret was told")
	}
	for i, secret := range k.secrets {
		find.add(fmt.Sprintf("webhook secret %d", i+1), secret)
	}
	left.files(w.dir, map[string]string{
		filepath.Join(w.data(), "state.db"): repeated,
		filepath.Join(w.dir, "log"):         repeated,
	})
	delete(left.texts, filepath.Join(w.dir, ".cursor", "mcp.json")) // where they belong
	left.holds(find)
	if event.PublicAddress(address) == address {
		t.Error("the address holds no secret, so nothing is proven")
	}
}

// The process of a server gets the environment of the program, and its last words are quoted:
// without the values of variables whose names say secret, and without texts that look like a
// secret.
func TestLastWordsOfAProcessAreMasked(t *testing.T) {
	const inherited, unknown = "inherited-Pp44KkVv80YyNnTt", "ghp_aB3dE5gH7jK9mN1pQ3sT5uV7xY9z"
	w := newWorld(t)
	w.vars = []string{"E2E_ACCESS_KEY=" + inherited}
	config := filepath.Join(w.dir, "servers.json")
	script := `echo "` + repeated + ` $E2E_ACCESS_KEY $(printf %s "$E2E_ACCESS_KEY" | od -An -tx1 | tr -d ' \n') ` + unknown + ` to https://hooks.example/services/T0/B0/` + addressKey + `" >&2; exit 3`
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"dies": map[string]any{"command": "sh", "args": []string{"-c", script}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, servers, 0o600); err != nil {
		t.Fatal(err)
	}
	left := evidence{t: t, texts: map[string]string{}}
	for _, args := range [][]string{{"types", "dies"}, {"tail", "dies", "x"}} {
		p := w.start(nil, append(args, "--config", config, "--data", w.data(), "--log", filepath.Join(w.dir, "log"), "--log-level", "debug")...)
		if code := p.wait(); code == 0 {
			t.Errorf("%s ends with 0", p.name)
		}
		left.keep(strings.Join(args, " "), repeated, p.stdout.text()+p.stderr.text())
	}
	left.files(w.dir, map[string]string{filepath.Join(w.dir, "log"): repeated})
	delete(left.texts, config)
	find := search{}
	find.add("variable of the environment", inherited)
	find.add("token by its beginning", unknown)
	find.add("key in a path", addressKey)
	left.holds(find)
}
