package incidents

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestTimeOf(t *testing.T) {
	for said, want := range map[string]struct {
		at  time.Time
		yes bool
	}{
		"2026-11-23T11:59:00Z":      {noon.Add(-time.Minute), true},
		"2026-11-23T12:59:00+01:00": {noon.Add(-time.Minute), true},
		"2026-11-23 12:59:00+0100":  {noon.Add(-time.Minute), true},
		"2026-11-23T12:00:01Z":      {noon, false}, // later than it was received
		"yesterday":                 {noon, false},
		"":                          {noon, false},
	} {
		at, yes := timeOf(&event.Record{ReceivedAt: noon, Timestamp: trust.Untrusted(said)})
		if !at.Equal(want.at) || yes != want.yes {
			t.Errorf("%q: %v, %v", said, at, yes)
		}
	}
}

// entries returns one entry for each letter; equal letters are equal entries.
func entries(letters string) (out []Entry) {
	for i, c := range letters {
		out = append(out, Entry{Seq: uint64(i + 1), Kind: event.KindEvent, At: noon.Add(time.Duration(i) * time.Second), Server: "pager", Summary: trust.Untrusted(string(c))})
	}
	return out
}

func TestFoldGroupsConsecutiveEqualEntries(t *testing.T) {
	all := entries("aabaaac")
	all[6].Kind = event.KindGap
	all = append(all, all[6])
	var counts []int
	for _, r := range Fold(all) {
		counts = append(counts, r.Count())
	}
	want := []int{2, 1, 3, 1, 1} // gaps stay alone
	if len(counts) != len(want) {
		t.Fatalf("%v, want %v", counts, want)
	}
	for i := range want {
		if counts[i] != want[i] {
			t.Errorf("%v, want %v", counts, want)
		}
	}
	if got := Fold(all)[2].Span(all); got != 2*time.Second {
		t.Errorf("the span is %v", got)
	}
	if Fold(nil) != nil {
		t.Error("nothing is folded into something")
	}
}

func TestLanesBeginInOrderOfTime(t *testing.T) {
	all := entries("abc")
	all[1].Server = "chat"
	lanes := Lanes(all)
	if len(lanes) != 2 || lanes[0].Server != "pager" || len(lanes[0].Entries) != 2 || lanes[1].Entries[0] != 1 {
		t.Errorf("%+v", lanes)
	}
}

func TestTallyIsBounded(t *testing.T) {
	var tally Tally
	for i := range valuesMax + 10 {
		tally.Add(trust.Untrusted(time.Duration(i).String()), true)
	}
	tally.Add(trust.Untrusted("0s"), true)
	tally.Add(trust.Text{}, false)
	top, distinct := tally.Top(1)
	if distinct != valuesMax || tally.Other != 10 || tally.Without != 1 || top[0].Count != 2 || tally.Records != valuesMax+12 {
		t.Errorf("%v, %d values, %+v", top, distinct, tally.Records)
	}
}

func TestMarkdownIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"a | b":                       `a \| b`,
		"# <img src=x> [a](http://b)": `\# \<img src=x\> \[a\](http\://b)`,
		"`rm` *now* www.evil.test":    "\\`rm\\` \\*now\\* www\\.evil.test",
		"line\nbreak":                 `line\\x0abreak`,
		"p99 > 4.5 s, 12:00":          `p99 \> 4.5 s, 12:00`,
	} {
		if got := inert(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestCompareDescendsIntoPayloads(t *testing.T) {
	a := &event.Record{Kind: event.KindEvent, Server: "pager", Data: []byte(`{"n":1,"user":{"name":"x","tags":["a","b"]},"same":true}`)}
	b := &event.Record{Kind: event.KindEvent, Server: "chat", Data: []byte(`{"user":{"tags":["a","c"]},"same": true,"new":null}`)}
	differs, alike := Compare(a, b)
	got := ""
	for _, d := range differs {
		got += d.Path.Raw() + ":" + d.A.Raw() + ">" + d.B.Raw() + " "
	}
	if want := `server:pager>chat .n:1> .user.name:"x"> .user.tags[1]:"b">"c" .new:>null `; got != want || alike != 2 {
		t.Errorf("%s, %d alike, want %s", got, alike, want)
	}
	if differs, _ := Compare(a, a); len(differs) != 0 {
		t.Errorf("an event differs from itself: %v", differs)
	}
	if differs, _ := Compare(&event.Record{Raw: []byte("no json")}, &event.Record{Raw: []byte("{")}); len(differs) != 1 {
		t.Errorf("payloads that are no JSON: %v", differs)
	}
}

// The likeliest id comes first, each value once; several are unambiguous only if a single one is an
// incident's.
func TestIDsOf(t *testing.T) {
	for data, want := range map[string]string{
		`{"incidentId":"INC-7","orderId":"O-1","id":"e"}`:                          "INC-7 O-1 e clear",
		`{"orderId":"O-1","id":"e","userId":"u","ticket":"T-1"}`:                   "T-1 O-1 e u",
		`{"incident":"INC-7","about":{"incident":"INC-8"}}`:                        "INC-7 INC-8",
		`{"id":"INC-7","case":{"incident_id":"INC-7"},"n":{"incidentId":"INC-7"}}`: "INC-7 clear",
		`{"data":{"id":"x"}}`:                             "x clear",
		`{"orderId":"two words","valid":"no","grid":"x"}`: "",
		`{"incident":7}`:                                  "",
	} {
		r := event.Record{Kind: event.KindEvent, Data: json.RawMessage(data)}
		ids, clear := IDsOf(&r)
		var got []string
		for _, id := range ids {
			got = append(got, id.Text.Raw())
		}
		if clear {
			got = append(got, "clear")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", data, got)
		}
	}
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, `"a%dId":"v%d",`, i, i)
	}
	r := event.Record{Kind: event.KindEvent, Data: json.RawMessage("{" + strings.TrimSuffix(many.String(), ",") + "}")}
	if ids, _ := IDsOf(&r); len(ids) != idsMax || ids[0].Path.Raw() != ".a0Id" {
		t.Errorf("of thirty: %v", ids)
	}
}
