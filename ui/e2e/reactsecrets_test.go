//go:build !windows

package e2e

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A secret that signs webhooks of reactions is in nothing that the program wrote, and what
// a run got and was answered is masked on a screen for an audience.
func TestSecretsOfReactionsStayInside(t *testing.T) {
	w := newWorld(t)
	hook := "whsec_" + base64.StdEncoding.EncodeToString([]byte("secret-of-a-reaction-5Tt61Mm"))
	w.vars = []string{"E2E_HOOK=" + hook}
	k := &keeper{t: t, wanted: func(*http.Request) bool { return true }}
	web := httptest.NewServer(k)
	t.Cleanup(web.Close)
	t.Cleanup(k.sending.Wait)
	target := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(rw, "%s taken: %s\n%s", planted, r.Header.Get("Webhook-Id"), body)
	}))
	t.Cleanup(target.Close)

	config := filepath.Join(w.dir, "servers.json")
	for file, text := range map[string]string{
		config: fmt.Sprintf(`{"mcpServers":{%q:{"url":"%s/mcp"}}}`, planted, web.URL),
		filepath.Join(w.dir, "rules.json"): fmt.Sprintf(`{"rules":{"sign":{"on":{"server":%q,"type":"load.tick"},"key":".password","when":".note=nothing",
			"do":{"webhook":%q,"secret":"${E2E_HOOK}","private":true}}}}`, planted, target.URL),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	common := []string{"--data", w.data(), "--config", config, "--log", filepath.Join(w.dir, "log"), "--log-level", "debug"}
	if out, code := w.run(append([]string{"tail", planted, "load.tick", "--mode", "webhook", "--count", "1", "--json"}, common...)...); code != 0 {
		t.Fatalf("code %d: %s", code, out)
	}
	seq := uint64(0)
	for _, r := range w.stored() {
		if r.Kind == "event" {
			seq = r.Seq
		}
	}

	left := evidence{t: t, texts: map[string]string{}}
	screen := func(who string, more ...string) *terminal {
		c := w.terminalWith(nil, 200, 50, append(common, more...)...)
		c.reads("load.tick")
		c.keys(fmt.Sprintf(":once sign #%d\r", seq))
		c.keys("6")
		c.sees("the reactions", func(s string) bool { return strings.Contains(s, "━ 6 ") })
		if strings.Contains(c.screen.Text(), "[Runs]") { // the tab of the last time
			c.keys("[")
		}
		c.sees("a run that waits", func(s string) bool { return strings.Contains(s, "[Waiting]") && strings.Contains(s, "send to http") })
		c.keys("\r")
		c.reads("record number")
		left.keep(who+", waiting", "sign", c.screen.Text())
		return c
	}
	end := func(c *terminal) {
		if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		c.end()
	}
	c := screen("the screen")
	c.reads("approves it once")
	c.keys("\x19")
	c.keys("6]")
	c.sees("a run that is done", func(s string) bool { return strings.Contains(s, "[Runs]") && strings.Contains(s, " done") })
	c.keys("\rG")
	c.reads(audience)
	left.keep("the screen, runs", audience, c.screen.Text())
	run := func(shows string, args ...string) string {
		t.Helper()
		out, code := w.run(append(args, common...)...)
		if code != 0 {
			t.Errorf("%v: code %d\n%s", args, code, out)
		}
		left.keep(strings.Join(args, " "), shows, out)
		return out
	}
	_, id, _ := strings.Cut(run("sign", "runs", "list", "--json"), `{"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	run("E2E_HOOK", "runs", "show", id)
	run(planted, "runs", "out", id)
	run("sign", "rules", "list", "--json")
	run("1 rule", "rules", "check")
	run("approval allowed", "audit", "--json")
	end(c)

	c = screen("the audience", "--present")
	c.reads("masked for the audience")
	c.keys("\x19")
	c.reads("not here")
	for _, tab := range []string{"[Runs]", "[Rules]"} {
		c.keys("6]")
		c.reads(tab)
		c.keys("\r")
		c.reads("sign")
		left.keep("the audience, "+tab, "sign", c.screen.Text())
		c.keys("G")
		c.sees("its end", func(s string) bool { return strings.Contains(s, tab) })
		left.keep("the audience, end of "+tab, "sign", c.screen.Text())
		c.keys(esc)
	}
	end(c)

	find := search{}
	find.add("secret of the reaction", hook)
	left.files(w.dir, map[string]string{filepath.Join(w.data(), "state.db"): planted})
	left.holds(find)
	for where, text := range left.texts {
		if strings.HasPrefix(where, "the audience") {
			if found := (search{"masked member": []byte(audience), "key in an address": []byte(webhook)}).finds([]byte(text)); len(found) > 0 {
				t.Errorf("%s shows the %s:\n%s", where, found, text)
			}
		}
	}
}
