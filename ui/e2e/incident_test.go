//go:build !windows

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An incident of the demo: from an event, one key shows its incident alone, one key shows
// everything that shares its number, and a typed command writes the report.
func TestFollowAnIncident(t *testing.T) {
	w := newWorld(t)
	c := w.terminal(160, 45, "demo", "--speed", "4")
	c.reads("Resolved: all clear") // all of the first incident is stored
	c.keys("2/type:incident.changed value:INC-4201\r")
	c.sees("incidents alone", func(s string) bool {
		return strings.Contains(s, "filter type:incident.changed value:INC-4201") && !strings.Contains(s, "health check") && strings.Contains(s, "Checkout fails for one")
	})
	c.keys("=")
	c.sees("the incident alone", func(s string) bool {
		return strings.Contains(s, "filter value:INC-4201") && strings.Contains(s, "page.sent")
	})
	c.keys("&")
	c.sees("what is related", func(s string) bool {
		return strings.Contains(s, "Related: INC-42") && strings.Contains(s, "pager alert.fired") && strings.Contains(s, "archive event://archive/filed")
	})
	c.keys("#")
	c.sees("repeats folded", func(s string) bool { return regexp.MustCompile(`x\d+, \d+ s`).MatchString(s) })
	c.keys(esc)
	c.sees("the stream", func(s string) bool { return !strings.Contains(s, "Related: ") })
	file := filepath.Join(t.TempDir(), "incident.md")
	c.keys(":report " + file + "\r")
	written := regexp.MustCompile(`report of \d+ records`)
	c.sees("what was written", written.MatchString)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Incident INC-42", "Checkout fails for one buyer in ten", "## Timeline", "## Gaps"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report does not have %q:\n%s", want, text)
		}
	}
	c.keys(":pipe cat\r")
	c.sees("the record that it acts on", func(s string) bool { return strings.Contains(s, "enter again acts on") })
	c.keys("\r")
	c.sees("an envelope", func(s string) bool {
		return strings.Contains(s, "Output of cat") && strings.Contains(s, "<<<untrusted-")
	})
	c.keys(esc)
	c.keys(":top .severity\r")
	c.sees("the severities", func(s string) bool {
		return strings.Contains(s, "Top values of .severity") && strings.Contains(s, "critical")
	})
	c.keys(esc + esc + esc)
	c.sees("everything", func(s string) bool {
		return !strings.Contains(s, "filter value:") && !strings.Contains(s, "Top values")
	})
	c.keys("q")
	c.endsWell()
}
