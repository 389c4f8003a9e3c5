package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/program"
)

// models stands in for what asks models.
type models struct {
	program.Models
	missing error // of models with a key
	tried   program.Tried
	err     error
	asked   []react.Model
}

func (s *models) HasKey(_ context.Context, m react.Model) error {
	if m.Key == "" {
		return nil
	}
	return s.missing
}

func (s *models) Try(_ context.Context, m react.Model) (program.Tried, error) {
	s.asked = append(s.asked, m)
	return s.tried, s.err
}

const threeModels = `{"models": {
  "local": {"wire": "chat", "url": "http://127.0.0.1:11434/v1", "model": "qwen3", "price": 0},
  "big":   {"wire": "messages", "url": "https://api.example.com", "model": "big-1", "key": "${BIG_KEY}", "price": {"in": "3.00", "out": "0.125"}},
  "other": {"wire": "chat", "url": "https://example.com/v1", "model": "x\u202e", "key": "keyring"}}, "rules": {}}`

// The rules of a demo with a data directory are those that other commands see with it.
func TestRulesOfADemoAreFoundByEachCommand(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "demo-rules.json"), []byte(threeModels), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.p.Models = &models{}
	b.expect(t, exitDone, "", "models", "list", "--data", data)
	if got := b.out.String(); !strings.HasPrefix(got, "local ") {
		t.Errorf("models list: %q", got)
	}
	other, _ := withRules(t, `{"models": {}, "rules": {}}`)
	b = newBench(t)
	b.p.Models = &models{}
	b.expect(t, exitDone, "there are no models in "+filepath.Join(filepath.Dir(other), "rules.json"), "models", "list", "--data", data, "--config", other)
}

func TestModelsAreListed(t *testing.T) {
	b := newBench(t)
	servers, _ := withRules(t, threeModels)
	b.p.Models = &models{}
	b.expect(t, exitDone, "", "models", "list", "--config", servers)
	want := "local  chat      qwen3    http://127.0.0.1:11434/v1  free                         no key\n" +
		"big    messages  big-1    https://api.example.com    $3.00 read, $0.125 written   key in ${BIG_KEY}\n" +
		"other  chat      x\\u202e  https://example.com/v1     price not known              key in the keyring\n"
	if got := b.out.String(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") || strings.Count(got, "\n") != 3 {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	b = newBench(t)
	b.p.Models = &models{missing: errors.New("the environment has no variable")}
	b.expect(t, exitDone, "", "models", "list", "--json", "--config", servers)
	lines := strings.Split(strings.TrimSpace(b.out.String()), "\n")
	if len(lines) != 3 {
		t.Fatal(b.out.String())
	}
	var local, big map[string]any
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &local), json.Unmarshal([]byte(lines[1]), &big)); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(local["price"], local["why"], local["keyPresent"]) != "[0.00 0.00] <nil> false" || local["key"] != "" {
		t.Errorf("%v", local)
	}
	if fmt.Sprint(big["price"], big["keyPresent"]) != "[3.00 0.125] false" || big["key"] != "${BIG_KEY}" || big["why"] != "the environment has no variable" || big["line"] == "" {
		t.Errorf("%v", big)
	}
	b = newBench(t)
	servers, path := withRules(t, `{"rules": {}}`)
	b.p.Models = &models{}
	b.expect(t, exitDone, "there are no models in "+path, "models", "list", "--config", servers)
}

func TestModelsAreTried(t *testing.T) {
	servers, path := withRules(t, threeModels)
	for name, c := range map[string]struct {
		args  []string
		with  models
		code  int
		out   string
		error string
	}{
		"text": {[]string{"big"}, models{tried: program.Tried{Answer: trust.Untrusted("OK\x1b[2J"), Took: 1234567 * time.Microsecond, Usage: react.Usage{In: 12, Out: 3}, Cost: 37}},
			exitDone, "big answered in 1.235s, 12 tokens read, 3 written, $0.000037\n│ OK\\x1b[2J\n", ""},
		"no report": {[]string{"other"}, models{tried: program.Tried{Answer: trust.Untrusted("OK"), Took: time.Second, Usage: react.Usage{In: 12, Out: 3, Estimated: true}}},
			exitDone, "other answered in 1s, 12 tokens read, 3 written (at most: it does not say), at a price that is not known\n│ OK\n", ""},
		"json": {[]string{"big", "--json"}, models{tried: program.Tried{Answer: trust.Untrusted("OK"), Took: time.Second, Usage: react.Usage{In: 12, Out: 3}, Cost: 37}},
			exitDone, `{"answer":"OK","estimated":false,"in":12,"microDollars":37,"model":"big","ms":1000,"out":3}` + "\n", ""},
		"refused": {[]string{"big"}, models{err: errors.New("HTTP 401: it does not accept the key")}, exitError, "", "HTTP 401: it does not accept the key; nothing was spent"},
		"unknown": {[]string{"big"}, models{err: errors.New("no answer"), tried: program.Tried{Usage: react.Usage{In: 12, Out: 1024, Estimated: true}, Cost: 1_000_000}},
			exitError, "", "no answer; it may have cost as much as 12 tokens read, 1024 written (at most: it does not say), $1.00"},
		"not there": {[]string{"bg"}, models{}, exitUsage, "", `there is no model "bg" in ` + path + "; there are local, big, other"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.p.Models = &c.with
			b.expect(t, c.code, c.error, append([]string{"models", "test", "--config", servers}, c.args...)...)
			if got := b.out.String(); got != c.out {
				t.Errorf("got %q, want %q", got, c.out)
			}
			if asked := len(c.with.asked); (asked == 1) != (name != "not there") {
				t.Errorf("asked %d times", asked)
			}
		})
	}
	b := newBench(t)
	if code := b.run(t, "__complete", "models", "test", "--config", servers, ""); code != exitDone || !strings.Contains(b.out.String(), "local\nbig\nother\n") {
		t.Errorf("%d, %q", code, b.out.String())
	}
}
