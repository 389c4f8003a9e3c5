package trust

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusRow is a row of a shared corpus.
type corpusRow struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Variant string `json:"variant"`
	Text    string `json:"text"`
}

// corpus returns the path of a corpus, which stands beside the repository. The
// test is skipped where there is none.
func corpus(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("rates need the corpora beside the repository: %v", err)
	}
	return path
}

// looked tells whether a row was read while rules were written. The shared
// rows of CyberSecEval and NotInject have been split by this parity before, so
// it is true for all of them; of BIPIA it is true for about a half. The other
// rows are never printed.
func (r corpusRow) looked() bool {
	sum := sha256.Sum256([]byte(r.Text))
	return sum[len(sum)-1]&1 == 0
}

// rate counts what the scanner saw in one set.
type rate struct{ n, any, badge, fixed int }

func (c *rate) add(r Report) {
	c.n++
	if injection(r) {
		c.any++
	}
	if r.Badge {
		c.badge++
	}
	for _, f := range r.Flags {
		if !strings.HasPrefix(string(f), "inj.") {
			c.fixed++
			break
		}
	}
}

func (c rate) percent(n int) float64 { return 100 * float64(n) / float64(max(c.n, 1)) }

func (c rate) log(t *testing.T, set, rows string) {
	t.Helper()
	if c.n > 0 {
		t.Logf("%-17s %-14s n=%3d highlighted %5.1f%% badge %5.1f%% other flags %4.1f%%",
			set, rows, c.n, c.percent(c.any), c.percent(c.badge), c.percent(c.fixed))
	}
}

func injection(r Report) bool {
	for _, f := range r.Flags {
		if strings.HasPrefix(string(f), "inj.") {
			return true
		}
	}
	return false
}

func wrapText(text string) []byte {
	return append(AppendJSONString([]byte(`{"body":`), text), '}')
}

// TestRates prints the table of docs/trust.md, rows that were looked at apart
// from the others, and holds the goals for benign text. With TRUST_MISSES=1 it
// also prints the misses among the rows that were looked at. With
// TRUST_WEBHOOKS naming a directory of index.json files as in the npm package
// @octokit/webhooks-examples it measures these too.
func TestRates(t *testing.T) {
	var kept, seen [6]rate
	names := [6]string{"indirect", "direct, explicit", "direct, other", "bare requests", "benign mails", "benign hard"}
	count := func(set int, r corpusRow) {
		report := Scan(wrapText(r.Text))
		if !r.looked() {
			kept[set].add(report)
			return
		}
		seen[set].add(report)
		if os.Getenv("TRUST_MISSES") != "" && (set < 3 && !report.Badge || set > 3 && len(report.Flags) > 0) {
			t.Logf("%s: %v badge=%v %q", names[set], report.Flags, report.Badge, r.Text)
		}
	}
	for _, r := range readLines[corpusRow](t, corpus(t, "corpora/cyberseceval/prompt_injection.jsonl")) {
		switch {
		case r.Label == "malicious-indirect":
			count(0, r)
		case r.Variant == "ignore_previous_instructions" || r.Variant == "system_mode":
			count(1, r)
		default:
			count(2, r)
		}
	}
	for _, r := range readLines[corpusRow](t, corpus(t, "corpora/bipia/attacks.jsonl")) {
		count(3, r)
	}
	for _, r := range readLines[corpusRow](t, corpus(t, "corpora/bipia/benign_emails.jsonl")) {
		count(4, r)
	}
	for _, r := range readLines[corpusRow](t, corpus(t, "corpora/notinject/notinject.jsonl")) {
		count(5, r)
	}
	for i, name := range names {
		kept[i].log(t, name, "not looked at")
		seen[i].log(t, name, "looked at")
	}
	for i, limit := range map[int]float64{4: 1, 5: 5} {
		for _, r := range []rate{kept[i], seen[i]} {
			if r.percent(r.badge) > limit {
				t.Errorf("%s: %d of %d have a badge", names[i], r.badge, r.n)
			}
		}
	}
	for i, goals := range map[int][2]float64{0: {75, 60}} {
		if r := seen[i]; r.percent(r.any) < goals[0] || r.percent(r.badge) < goals[1] {
			t.Errorf("%s: %d of %d highlighted, %d with a badge", names[i], r.any, r.n, r.badge)
		}
	}
	measureWebhooks(t)
}

// measureWebhooks measures real webhook payloads, if there are any.
func measureWebhooks(t *testing.T) {
	dir := os.Getenv("TRUST_WEBHOOKS")
	if dir == "" {
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "index.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no index.json under %s", dir)
	}
	var r rate
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct {
			Name     string            `json:"name"`
			Examples []json.RawMessage `json:"examples"`
		}
		if err := json.Unmarshal(raw, &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			for _, e := range g.Examples {
				report := Scan(CompactJSON(e))
				if r.add(report); len(report.Flags) > 0 {
					t.Logf("%s %s: %v badge=%v %v", filepath.Base(filepath.Dir(name)), g.Name, report.Flags, report.Badge, report.Spans)
				}
			}
		}
	}
	r.log(t, "webhooks", "not looked at")
}
