package scan

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/trust"
	"eventdeck/host/trust/corpus"
	"eventdeck/host/trust/internal/trusttest"
)

// corpusRow is a row of a shared corpus.
type corpusRow struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Variant string `json:"variant"`
	Text    string `json:"text"`
}

// shared returns the path of a corpus beside the repository. The test is skipped without
// it.
func shared(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "shared", name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("rates need the corpora beside the repository: %v", err)
	}
	return path
}

// looked reports whether a row was read while rules were written. The shared rows of
// CyberSecEval and NotInject are already split by this parity, so it is true for all of
// them; for BIPIA it is true for about half. The other rows are never printed.
func (r corpusRow) looked() bool {
	sum := sha256.Sum256([]byte(r.Text))
	return sum[len(sum)-1]&1 == 0
}

// rate counts the findings in one set.
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

// TestRates prints the table of docs/trust.md, with the rows that were read apart from the
// others, and checks the goals for benign text. With TRUST_MISSES=1 it also prints the
// misses among the rows that were read. If TRUST_WEBHOOKS names a directory of index.json
// files as in the npm package @octokit/webhooks-examples, it measures these too.
func TestRates(t *testing.T) {
	var kept, seen [6]rate
	names := [6]string{"indirect", "direct, explicit", "direct, other", "bare requests", "benign mails", "benign hard"}
	count := func(set int, r corpusRow) {
		report := Scan(trusttest.WrapText(r.Text))
		if !r.looked() {
			kept[set].add(report)
			return
		}
		seen[set].add(report)
		if os.Getenv("TRUST_MISSES") != "" && (set < 3 && !report.Badge || set > 3 && len(report.Flags) > 0) {
			t.Logf("%s: %v badge=%v %q", names[set], report.Flags, report.Badge, r.Text)
		}
	}
	for _, r := range corpus.Read[corpusRow](t, shared(t, "corpora/cyberseceval/prompt_injection.jsonl")) {
		switch {
		case r.Label == "malicious-indirect":
			count(0, r)
		case r.Variant == "ignore_previous_instructions" || r.Variant == "system_mode":
			count(1, r)
		default:
			count(2, r)
		}
	}
	for _, r := range corpus.Read[corpusRow](t, shared(t, "corpora/bipia/attacks.jsonl")) {
		count(3, r)
	}
	for _, r := range corpus.Read[corpusRow](t, shared(t, "corpora/bipia/benign_emails.jsonl")) {
		count(4, r)
	}
	for _, r := range corpus.Read[corpusRow](t, shared(t, "corpora/notinject/notinject.jsonl")) {
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

// measureWebhooks measures real webhook payloads, if any.
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
				report := Scan(trust.CompactJSON(e))
				if r.add(report); len(report.Flags) > 0 {
					t.Logf("%s %s: %v badge=%v %v", filepath.Base(filepath.Dir(name)), g.Name, report.Flags, report.Badge, report.Spans)
				}
			}
		}
	}
	r.log(t, "webhooks", "not looked at")
}

// hardSentences are ordinary sentences full of the words that rules look for. They are
// older than the last change of the rules.
var hardSentences = []string{
	"Please ignore the previous email; the attachment was wrong.",
	"The agent must call the customer before Friday.",
	"Reminder: new instructions for the parking garage are attached.",
	"System: 3 nodes ready, 0 failed.",
	"The assistant manager will send you the credentials for the portal by post.",
	"You must not share your password with your manager or anyone else.",
	"Follow the updated guidelines when you write a commit message.",
	"We override the default settings in production; see the rules file.",
	"Dear AI team, the model evaluation meeting moved to 3 pm.",
	"If you are a maintainer, please review this pull request.",
	"Note to reviewers: ignore whitespace changes in this diff.",
	"Forget what I said yesterday, the release is on Monday.",
	"Do not tell the users about the release before the blog post is out.",
	"The chatbot should reply with a link to the help page.",
	"Add the API key to your environment variables and run the script.",
	"Security alert: a new sign-in to your account. If this was you, ignore this message.",
	"IMPORTANT: the office closes at noon on Friday.",
	"As an administrator you can now reset passwords for your users.",
	"Please forward this message to your team and confirm by email.",
	"The instructions above are for Linux; on Windows use the installer.",
	"Run the command below and send the output to support@example.com.",
	"The prompt is shown before each command; you can change it with PS1.",
	"Your previous subscription will be replaced by the new plan.",
	"All previous versions are affected; update immediately.",
	"fix: agent ignores instructions from the previous step",
	"The model was told to stop after 10 iterations.",
	"From now on we use the new template for invoices.",
	"Translate the following text into French for the brochure.",
	"Attention: system maintenance tonight, all sessions will be closed.",
	"Urgent: invoice 4711 must be paid today, please transfer the amount.",
	"The LLM should never reveal the system prompt, so we added a test for that.",
	"Bug: Claude does not follow the rules in AGENTS.md",
	"Ask the assistant to summarize the meeting notes and send them to everyone.",
	"feat: let the agent call tools in parallel",
	"Please print your boarding pass and keep your booking code secret.",
	"Delete the old branches and push the tag, then close the ticket.",
	"Do not reply to this message; this mailbox is not read.",
	"Output of the job is attached; instead of JSON it is now CSV.",
	"Hi Claude, thanks for your mail, see you on Tuesday.",
	"The new rules replace the earlier ones from January.",
}

// TestHardSentences checks the goal for the badge on ordinary sentences.
func TestHardSentences(t *testing.T) {
	var r rate
	for _, text := range hardSentences {
		report := Scan(trusttest.WrapText(text))
		if r.add(report); report.Badge {
			t.Logf("%v %q", report.Flags, text)
		}
	}
	r.log(t, "hard sentences", "")
	if r.percent(r.badge) > 5 {
		t.Errorf("%d of %d have a badge", r.badge, r.n)
	}
}
