//go:build !windows

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"eventdeck/ui/internal/screen"
)

// 8. A payload with every trick of terminals and of Unicode changes no cell outside of its own
// row and of the detail, changes nothing else of the terminal, and is shown to have tried.
func TestAcceptHostilePayload(t *testing.T) {
	const tricks = "\x1b[2J\x1b[H\x1b[31mred\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b]8;;http://evil.test\x1b\\\\link\x1b]8;;\x1b\\\\" +
		"\x1bP1$q\x1b\\\\\x9b31m\x9d0;owned\x9c\x1b[?1049l\x1b[?25h\x1bc\x1b[6n\r\n\x08\x7f\x00\x0e\x07" +
		"\u202e\u2066evil\u2069\u200b\u200d\ufeff\u2028\U000E0041\U000E0042z\u0335\u0336\u0337\u0338а👩\u200d👩\u200d👧\ufe0f"
	t.Parallel()
	shown := map[string][][]screen.Cell{}
	for _, text := range []string{"all is well here", tricks} {
		w := newWorldAlone(t)
		file := filepath.Join(w.dir, "in.ndjson")
		var lines strings.Builder
		for i, title := range []string{"one", "two", text, "four", "five"} {
			data, err := json.Marshal(map[string]string{"title": title})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&lines, `{"seq":%d,"kind":"event","server":"pager","type":"incident.created","subscription":"aaaa","mode":"push","eventId":"e%d","timestamp":null,"receivedAt":"2026-03-14T14:03:0%d.5Z","cursor":null,"data":%s}`+"\n", i+1, i+1, i, data)
		}
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, code := w.run("store", "import", file, "--data", w.data()); code != 0 {
			t.Fatalf("import ended with %d: %s", code, out)
		}
		c := w.terminal(160, 40, "--data", w.data(), "--theme", "none")
		c.reads("five")
		c.keys("2kk")
		c.sees("the third record", func(s string) bool {
			return strings.Contains(s, "READING") && regexp.MustCompile(`id +e3`).MatchString(s)
		})
		if text == tricks {
			c.sees("that it tried", func(s string) bool {
				return strings.Contains(s, "!ctl") && strings.Contains(s, `\x1b[2J`) && strings.Contains(s, "term.title")
			})
			c.keys("j")
			c.sees("the fourth", func(s string) bool { return regexp.MustCompile(`id +e4`).MatchString(s) })
			c.keys("k")
			c.sees("the third again", func(s string) bool { return regexp.MustCompile(`id +e3`).MatchString(s) })
		}
		shown[text] = c.screen.Cells()
		if title := c.screen.Title(); strings.Contains(title, "owned") || c.screen.Clipboard() != "" || !c.screen.Alternate() || !c.screen.CursorHidden() {
			t.Errorf("title %q, clipboard %q, alternate %v", title, c.screen.Clipboard(), c.screen.Alternate())
		}
		c.keys("q")
		c.endsWell()
	}
	calm, tried := shown["all is well here"], shown[tricks]
	own, detail := -1, -1
	for y := range calm {
		line := lineOf(calm[y])
		if strings.Contains(line, "all is well here") && own < 0 {
			own = y
		}
		if x := strings.Index(line, "3 [Payload]"); x >= 0 {
			detail = utf8.RuneCountInString(line[:x])
		}
	}
	for y := range calm {
		for x := range calm[y] {
			if y == own || y > 1 && x >= detail-2 || y >= len(calm)-2 {
				continue // its row, the detail, and the lines with memory and keys
			}
			if calm[y][x] != tried[y][x] {
				t.Fatalf("cell %d of row %d became %+v\n%s\n%s", x, y, tried[y][x], lineOf(calm[y]), lineOf(tried[y]))
			}
		}
	}
	if own < 0 || detail < 0 {
		t.Fatal("the screen is not laid out as this test takes it")
	}
}

func lineOf(cells []screen.Cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(c.Text)
	}
	return b.String()
}
