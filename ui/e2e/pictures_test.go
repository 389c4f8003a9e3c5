//go:build !windows

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"eventdeck/ui/internal/screen"
)

// TestPictures captures the screens of docs/guide.md from the real program:
//
//	EVENTDECK_PICTURES=$PWD/docs/pictures go test ./ui/e2e -run TestPictures
//
// Without the variable it only checks that each of them can be reached.
func TestPictures(t *testing.T) {
	w := newWorldAlone(t)
	c := w.terminal(140, 38, "demo", "--speed", "3")
	c.sees("everything live", func(s string) bool {
		return strings.Contains(s, " push ") && strings.Contains(s, "1 webhook") && strings.Contains(s, " poll ")
	})
	c.sees("a rate and a payload that tries something", func(s string) bool {
		return strings.Contains(s, "/s ") && strings.Contains(s, "AI!")
	})
	save(c, "start")
	for _, p := range []struct{ name, keys, shows, leave string }{
		{"help", "?", "Keys that work", esc},
		{"palette", ":", "things to do", esc},
		{"subs", "4", "[Subscriptions]", esc},
		{"log", "5", "[Audit]", esc},
		{"quiet", "1jji", "━ Why is it quiet", esc},
		{"form", "1jjs", "━ Subscribe", esc},
		{"stats", "S", "━ Stats", esc},
		{"timeline", "H", "━ Timeline", esc},
		{"themes", "Tjj", "━ Theme", esc},
	} {
		c.keys(p.keys)
		c.sees(p.shows, func(s string) bool { return strings.Contains(s, p.shows) && !strings.Contains(s, "counting") })
		save(c, p.name)
		c.keys(p.leave)
		c.keys(esc + esc + esc + esc) // to the root
	}
	c.keys("q")
	c.endsWell()

	c = w.terminal(140, 38, "demo", "--speed", "3", "--present", "--theme", "contrast-dark")
	c.sees("masked names", func(s string) bool { return strings.Contains(s, "***") })
	c.keys("2")
	c.keys("j")
	c.sees("a caption", func(s string) bool { return strings.Contains(s, " j ") })
	save(c, "present")
	c.keys("q")
	c.endsWell()
}

// TestPicturesOfSizes captures the demo on terminals of three sizes, dark and light, as
// TestPictures does.
func TestPicturesOfSizes(t *testing.T) {
	if os.Getenv("EVENTDECK_PICTURES") == "" {
		t.Skip("goldens of ui/tui hold the sizes; this draws pictures")
	}
	for _, size := range []struct{ w, h int }{{160, 45}, {100, 30}, {80, 24}} {
		for _, theme := range []string{"dark", "light"} {
			w := newWorldAlone(t)
			c := w.terminal(size.w, size.h, "demo", "--speed", "3", "--theme", theme)
			c.sees("an incident that is deep in trouble", func(s string) bool { return strings.Contains(s, "AI!") })
			c.keys("2")
			c.sees("events of some time", func(s string) bool { return strings.Contains(s, "ask") })
			savePaper(c, fmt.Sprintf("screen-%dx%d-%s", size.w, size.h, theme), papers[theme])
			c.keys("q")
			c.endsWell()
		}
	}
}

var papers = map[string]screen.Paper{"dark": screen.Dark(), "light": screen.Light()}

// TestPicturesOfReactions follows the chapter on reactions of docs/guide.md, on the demo
// servers that it names, and captures it as TestPictures does.
func TestPicturesOfReactions(t *testing.T) {
	if os.Getenv("EVENTDECK_PICTURES") == "" {
		t.Skip("the tests of reactions go this way; this draws pictures")
	}
	w := newWorldAlone(t)
	_, pager := w.serve("pager", "--speed", "3")
	_, model := w.serve("model")
	config := filepath.Join(w.dir, "config", "eventdeck")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"servers.json": fmt.Sprintf(`{"mcpServers": {"pager": {"url": %q}}}`, pager),
		"rules.json": fmt.Sprintf(`{
  "models": {"standin": {"wire": "chat", "url": %q, "model": "stand-in", "price": 0}},
  "rules": {
    "find-cause": {
      "on": {"server": "pager", "type": "alert.fired"}, "when": ".severity=critical",
      "key": ".service", "wait": "2s", "mode": "auto",
      "do": {"model": {
        "use": "standin",
        "task": "Find the likely cause. If a deploy caused it, propose to roll it back.",
        "tools": {"pager/get_incident": "read", "pager/list_deploys": "read", "pager/rollback": "write"}
      }}
    }
  }
}`, model),
	} {
		if err := os.WriteFile(filepath.Join(config, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := w.terminal(140, 38, "--data", w.data())
	c.reads("pager ready")
	for _, typ := range []string{"alert.fired", "deploy.changed"} {
		c.subscribesTo(typ, "● "+typ)
	}
	c.reads("1 ask")
	c.keys("6")
	c.reads("find-cause")
	c.approvable()
	save(c, "react-asks")
	c.keys("\x19")
	c.sees("a call that may change something", func(s string) bool { return strings.Contains(s, "call pager/rollback") })
	c.keys("6g")
	c.reads("argument")
	c.approvable()
	save(c, "react-calls")
	c.keys("\x19")
	c.keys("1" + "6]")
	c.sees("a run that is done", func(s string) bool { return strings.Contains(s, "[Runs]") && strings.Contains(s, " done") })
	c.keys("G\r")
	c.reads("Conversation")
	c.keys("zG")
	c.reads("tokens")
	save(c, "react-run")
	c.keys("6]")
	c.reads("[Rules]")
	c.keys(esc + esc + esc + "q")
	c.endsWell()
}

// approvable reads the request to its end: it can be approved only after each line was shown.
func (c *terminal) approvable() {
	c.t.Helper()
	c.keys("3")
	for {
		var title, lines string
		c.sees("what is to be read, or that it may be approved", func(s string) bool {
			title = regexp.MustCompile(`read (on|back) \(|approves it once`).FindString(s)
			lines = detail(s)
			return title != ""
		})
		switch {
		case strings.HasPrefix(title, "approves"):
			return
		case strings.HasPrefix(title, "read on"):
			c.keys("\x04") // ctrl+d
		default:
			c.keys("\x15") // ctrl+u
		}
		c.sees("other lines", func(s string) bool { return detail(s) != lines })
	}
}

// detail is the content of the detail pane, with its title.
func detail(screen string) string {
	_, text, _ := strings.Cut(screen, " 3 Detail")
	text, _, _ = strings.Cut(text, "\n╰")
	return text
}

func save(c *terminal, name string) {
	c.t.Helper()
	savePaper(c, name, screen.Dark())
}

func savePaper(c *terminal, name string, paper screen.Paper) {
	c.t.Helper()
	dir := os.Getenv("EVENTDECK_PICTURES")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".svg"), []byte(c.screen.SVG(paper)), 0o644); err != nil {
		c.t.Fatal(err)
	}
}
