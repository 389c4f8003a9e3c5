//go:build !windows

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		{"themes", "Tjjjjjj", "━ Theme", esc},
		{"notify", "b", "one in 10 s", esc},
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

func save(c *terminal, name string) {
	c.t.Helper()
	dir := os.Getenv("EVENTDECK_PICTURES")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".svg"), []byte(c.screen.SVG()), 0o644); err != nil {
		c.t.Fatal(err)
	}
}
