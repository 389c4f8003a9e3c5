package incidents

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
)

// The plain report has the contents of the Markdown, a sentence a line: no table, no list, no
// escapes, no control characters of a server.
func TestPlainReportIsSentences(t *testing.T) {
	log := stored(t, 40, 10)
	f, err := filter.Parse(filter.ValueTerm(trust.Untrusted("INC-7")), noon)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Build(context.Background(), log, Request{Title: "Incident INC_7", What: "filter value:INC-7", Match: f.Match, Made: noon, Payload: true,
		Marks: []event.Mark{{Seq: 10, Note: "the *first* one", At: noon}}})
	if err != nil {
		t.Fatal(err)
	}
	r.Gaps = []Entry{{Server: "pager", Type: trust.Untrusted("load.tick"), Gap: &event.Gap{Cause: event.CauseTruncated, Certain: true, From: noon, To: noon.Add(time.Minute)}}}
	r.Entries = append(r.Entries, Entry{Seq: 41, Server: "pager", Type: trust.Untrusted("load.tick"), Summary: trust.Untrusted("a | b \x1b[31m\u202e"), At: noon.Add(time.Hour), Said: true})
	var plain, markdown strings.Builder
	if err := r.Plain(&plain); err != nil {
		t.Fatal(err)
	}
	if err := r.Markdown(&markdown); err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(plain.String(), "Payloads")
	for _, want := range []string{
		"Incident INC_7\n", "Marks and notes\n", "Note: the *first* one\n", "Timeline\n", ", warning: queue grows", "(4 times in 30s). pager load.tick, record 10.\n",
		"Gaps\n", "pager load.tick: events are missing from ", "record 41.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if sign := regexp.MustCompile(`(?m)^(#|-|\|)|\\[*_|#]|\x1b|\x{202e}`).FindString(text); sign != "" {
		t.Errorf("%q stands in it:\n%s", sign, text)
	}
	for _, want := range []string{"# Incident INC\\_7\n", "## Timeline\n", "| warning | queue grows", "  - Note: the \\*first\\* one\n"} {
		if !strings.Contains(markdown.String(), want) {
			t.Errorf("%q is missing in Markdown:\n%s", want, markdown.String())
		}
	}
}

// Readers in other time zones know the offset of the times.
func TestZoneOfReportHasItsOffset(t *testing.T) {
	east := time.FixedZone("EAT", 3*60*60)
	for _, c := range []struct {
		zone *time.Location
		want string
	}{{time.UTC, "UTC"}, {east, "EAT (UTC+03:00)"}} {
		if got := zoneName(noon.In(c.zone)); got != c.want {
			t.Errorf("of %v it says %q, want %q", c.zone, got, c.want)
		}
	}
	if got := zoneName(noon.In(time.Local)); strings.Contains(got, "Local") {
		t.Errorf("it says %q", got)
	}
}
