//go:build !windows

package e2e

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// evidence is what a program left behind, by where it was: outputs, screens, files.
type evidence struct {
	t     *testing.T
	texts map[string]string
}

// keep keeps a text. It must contain shows, which proves that the right text was taken, and
// that a secret in the same place would have been found.
func (e *evidence) keep(where, shows, text string) {
	e.t.Helper()
	proof := search{}
	proof.parts(shows, []byte(shows))
	if len(proof.finds([]byte(text))) == 0 {
		e.t.Errorf("%s does not show %q, so nothing is proven:\n%.2000s", where, shows, text)
	}
	e.texts[where] = text
}

// run keeps the output of a command that must end with the given code, and returns it.
func (e *evidence) run(w *world, want int, shows string, words, common []string) string {
	e.t.Helper()
	p := w.start(nil, slices.Concat(words, common)...)
	code := p.wait()
	text := p.stdout.text() + p.stderr.text()
	if code != want {
		e.t.Errorf("%s: code %d, want %d\n%s", p.name, code, want, text)
	}
	e.keep(strings.Join(words, " "), shows, text)
	return text
}

// files keeps every file below a folder. For each pattern in shows there must be a file, and
// it must contain the text.
func (e *evidence) files(dir string, shows map[string]string) {
	e.t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		e.texts[path] = string(text)
		return err
	})
	if err != nil {
		e.t.Error(err)
	}
	for pattern, shown := range shows {
		paths := glob(e.t, pattern)
		if len(paths) == 0 {
			e.t.Errorf("there is no %s", pattern)
		}
		for _, path := range paths {
			e.keep(path, shown, e.texts[path])
		}
	}
}

// holds searches all of it for secrets.
func (e *evidence) holds(secrets search) {
	e.t.Helper()
	for where, text := range e.texts {
		for _, found := range secrets.finds([]byte(text)) {
			e.t.Errorf("%s holds the %s", where, found)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// visit goes through the views that may show what a server said, and keeps the screens. The
// payload of an event must contain the given text.
func (c *terminal) visit(e *evidence, who, payload string) {
	c.t.Helper()
	c.reads("load.tick")
	take := func(shows string) { e.keep(who+" at "+shows, shows, c.screen.Text()) }
	c.keys("1")
	c.reads(planted[:part]) // the rest may be cut off
	take(planted)
	c.keys("2/kind:event\r") // the newest record may be no event
	c.reads("filter kind:event")
	c.keys("G")
	c.reads(payload)
	take(payload)
	c.keys(esc)
	c.gone("filter kind:event")
	c.keys("4")
	c.reads("━ 4 ")
	for _, tab := range []string{"[Subscriptions]", "[At servers]", "[Refused]"} {
		c.turnTo(tab)
		take(tab)
	}
	c.keys("5")
	c.reads("━ 5 ")
	for _, tab := range []string{"[Audit]", "[App]", "[Wire]"} {
		c.turnTo(tab)
		take(tab)
	}
	c.keys("\r")
	c.reads("events/")
	take("events/")
}

var openTab = regexp.MustCompile(`━ [45] .*(\[[A-Z][A-Za-z ]+\])`)

// turnTo goes from tab to tab until the given one is open; the program remembers which one was
// open last.
func (c *terminal) turnTo(tab string) {
	c.t.Helper()
	for range 8 {
		before := openTab.FindString(c.screen.Text())
		if strings.HasSuffix(before, tab) {
			return
		}
		c.keys("]")
		c.sees("another tab", func(text string) bool {
			now := openTab.FindString(text)
			return now != "" && now != before
		})
	}
	c.t.Fatalf("there is no tab %s\n%s", tab, c.screen.Text())
}

// lookInto starts a command and keeps its profiles and metrics.
func (w *world) lookInto(e *evidence, args []string) {
	w.t.Helper()
	numbers := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		select {
		case numbers <- string(body):
		default:
		}
	}))
	defer collector.Close()
	p := w.start([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "OTEL_METRIC_EXPORT_INTERVAL=50"}, append(args, "--pprof", "127.0.0.1:0")...)
	line := p.await(p.stderr, 1, func(s string) bool { return strings.Contains(s, "profiles are at ") })
	_, address, _ := strings.Cut(line, "profiles are at ")
	p.await(p.stdout, 1, func(s string) bool { return strings.Contains(s, "load.tick") })
	for query, shows := range map[string]string{"goroutine?debug=2": "goroutine ", "heap?debug=1": "heap profile", "cmdline": filepath.Base(os.Args[0])} {
		resp, err := http.Get(address + query)
		if err != nil {
			w.t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			w.t.Fatal(err)
		}
		e.keep("the profile "+query, shows, string(text))
	}
	e.keep("the numbers", "eventdeck.events", <-numbers)
	p.signal(os.Interrupt)
	p.wait()
	e.keep("what was looked into", "load.tick", p.stdout.text()+p.stderr.text())
}
