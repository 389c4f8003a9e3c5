package evidence_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"eventdeck/ui/tui/evidence"
)

func TestSplitFollowsShellRules(t *testing.T) {
	for line, want := range map[string][]string{
		"":                      nil,
		"  a  b ":               {"a", "b"},
		`a "b c" 'd "e' f\ g`:   {"a", "b c", `d "e`, "f g"},
		`name="a b"c`:           {"name=a bc"},
		`'' ""`:                 {"", ""},
		`back\\slash "a\"b" ''`: {`back\slash`, `a"b`, ""},
	} {
		if got, err := evidence.Split(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
	for _, line := range []string{`"a`, `'a`, `a\`} {
		if _, err := evidence.Split(line); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

func TestSplitReversesQuote(t *testing.T) {
	for _, w := range []string{"", "a", "a b", `a"b`, `a\b`, "it's", "tab\there", "name=", "a name=", "it's="} {
		if got, err := evidence.Split(evidence.Quote(w)); err != nil || len(got) != 1 || got[0] != w {
			t.Errorf("%q comes back as %q, %v", w, got, err)
		}
	}
	for w, want := range map[string]string{"a": "a", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "https://x/y?z": "'https://x/y?z'"} {
		if got := evidence.ShellQuote(w); got != want {
			t.Errorf("%q for a shell is %s, want %s", w, got, want)
		}
	}
}

func TestArgumentsFollowTheSchema(t *testing.T) {
	schema := []byte(`{"properties":{"n":{"type":"integer"},"text":{"type":"string"},"sev":{"enum":["P1","P2"]},"any":{}}}`)
	got, err := evidence.Args([]string{"n=5", "text=5", "sev=P1", "any=true", "other=[1]", "plain=x y"}, schema)
	if want := `{"n":5,"text":"5","sev":"P1","any":true,"other":[1],"plain":"x y"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if _, err := evidence.Args([]string{"a=1", "a=2"}, schema); !errors.Is(err, evidence.ErrUsage) {
		t.Errorf("an argument twice: %v", err)
	}
	if got := evidence.ArgNames(schema); !slices.Equal(got, []string{"any=", "n=", "sev=", "sev=P1", "sev=P2", "text="}) {
		t.Errorf("offered %q", got)
	}
}

func TestMomentsAreParsed(t *testing.T) {
	now := time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"10m":                  now.Add(-10 * time.Minute),
		"14:00":                time.Date(2026, 3, 14, 14, 0, 0, 0, time.UTC),
		"15:00":                time.Date(2026, 3, 13, 15, 0, 0, 0, time.UTC), // the last one
		"2026-03-01":           time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		"2026-03-01 09:30":     time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
		"2026-03-01T09:30:00Z": time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
	} {
		if got, err := evidence.Moment(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	if _, err := evidence.Moment("teatime", now); !errors.Is(err, evidence.ErrUsage) {
		t.Errorf("teatime: %v", err)
	}
}
