package reading

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// acceptance is a line of a file of cases: ../../../shared/cases/payloads.md describes it.
type acceptance struct {
	Kind, Type string
	Data       json.RawMessage
	Expect     struct {
		Level, Headline, Not, IDs []string
		State                     *string
		Listing                   bool
	}
}

// record returns the case as an event.
func (c *acceptance) record() *event.Record {
	return &event.Record{Kind: event.KindEvent, Type: trust.Untrusted(c.Type), Data: c.Data}
}

// cases reads a file of cases.
func cases(t testing.TB, path string) (list []acceptance) {
	f, err := os.Open(path)
	if err != nil {
		if os.IsNotExist(err) && strings.Contains(path, "shared") {
			t.Skipf("%s is not there", path)
		}
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var c acceptance
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		list = append(list, c)
	}
	return list
}

// fold returns a text without its letter case and runs of blanks.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// headlineFault says what is wrong with a headline, as score_payloads.py does; "": nothing.
func headlineFault(c *acceptance, headline string) string {
	s := fold(headline)
	switch {
	case s == "":
		return "none"
	case slices.ContainsFunc(c.Expect.Not, func(not string) bool { return fold(not) == s }):
		return fmt.Sprintf("is %q", s)
	case !slices.ContainsFunc(c.Expect.Headline, func(h string) bool {
		at := strings.Index(s, fold(h))
		return at >= 0 && len([]rune(s[:at])) < 60
	}):
		return fmt.Sprintf("lacks it: %q", s)
	case len([]rune(s)) > 400:
		return "longer than 400 characters"
	case c.Expect.Listing:
		return ""
	case s[0] == '{' || s[0] == '[' && !regexp.MustCompile(`^\[[^"\]]{1,40}\]`).MatchString(s):
		return "JSON"
	}
	var members map[string]any
	if json.Unmarshal(c.Data, &members) != nil {
		var list []map[string]any
		if json.Unmarshal(c.Data, &list) == nil && len(list) > 0 {
			members = list[0]
		}
	}
	listed := 0
	for k, v := range members {
		text := fold(scalar(v))
		if text == "" {
			continue
		}
		text = string([]rune(text)[:min(20, len([]rune(text)))])
		if regexp.MustCompile(`(?:^|\W)` + regexp.QuoteMeta(fold(k)) + `(:? |=)` + regexp.QuoteMeta(text)).MatchString(s) {
			listed++
		}
	}
	if listed >= 2 {
		return "a listing: " + s
	}
	var all []string
	leaves(c.Data, &all)
	sort.Slice(all, func(i, j int) bool { return len(all[i]) > len(all[j]) })
	for _, v := range all {
		if slices.ContainsFunc(c.Expect.Headline, func(h string) bool { return strings.Contains(v, fold(h)) }) {
			s = strings.ReplaceAll(s, v, "\n")
		}
	}
	many := 0
	for _, v := range all {
		if cut := regexp.MustCompile(`(^|\W)`+regexp.QuoteMeta(v)+`($|\W)`).ReplaceAllString(s, "$1\n$2"); cut != s {
			s, many = cut, many+1
		}
	}
	if many >= 5 {
		return "many values: " + s
	}
	return ""
}

func scalar(v any) string {
	switch v := v.(type) {
	case map[string]any, []any, nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

func leaves(raw json.RawMessage, all *[]string) {
	var v any
	_ = json.Unmarshal(raw, &v)
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		default:
			if s := fold(scalar(v)); len([]rune(s)) > 2 && !slices.Contains(*all, s) {
				*all = append(*all, s)
			}
		}
	}
	walk(v)
}

// score counts what is right in readings of cases, in percent, and logs what is not.
func score(t *testing.T, list []acceptance, read func(*event.Record) Reading) (level, headline, ids, status float64) {
	t.Helper()
	with := 0
	for i := range list {
		c := &list[i]
		got := read(c.record())
		want := got.Level.String()
		if want == "" {
			want = "none"
		}
		if slices.Contains(c.Expect.Level, want) {
			level++
		} else {
			t.Logf("%s: level %s (%v at %v), want %v", c.Kind, want, got.Severity.Value, got.Severity.Path, c.Expect.Level)
		}
		if fault := headlineFault(c, got.Headline.Value.Raw()); fault == "" {
			headline++
		} else {
			t.Logf("%s: headline %s (%v)", c.Kind, fault, got.Headline.Path)
		}
		if state := ""; true {
			if c.Expect.State != nil {
				state = *c.Expect.State
			}
			if state == got.Status.String() {
				status++
			}
		}
		if len(c.Expect.IDs) == 0 {
			continue
		}
		with++
		if len(got.IDs) > 0 && slices.Contains(c.Expect.IDs, got.IDs[0].Value.Raw()) {
			ids++
		} else {
			t.Logf("%s: ids %v, want %v", c.Kind, got.IDs, c.Expect.IDs)
		}
	}
	n := float64(len(list))
	return 100 * level / n, 100 * headline / n, 100 * ids / float64(with), 100 * status / n
}

// The readings of payloads as their senders document them are right; also where no shape is known.
func TestCases(t *testing.T) {
	none := &shapes{}
	for _, x := range []struct {
		name, path           string
		known                *shapes
		level, headline, ids float64
	}{
		{"shared", "../../../shared/cases/payloads.jsonl", knownShapes(), 97, 97, 95},
		{"shared without shapes", "../../../shared/cases/payloads.jsonl", none, 85, 85, 80},
		{"own", "testdata/payloads.jsonl", knownShapes(), 90, 90, 85},
		{"own without shapes", "testdata/payloads.jsonl", none, 90, 90, 85},
	} {
		t.Run(x.name, func(t *testing.T) {
			level, headline, ids, status := score(t, cases(t, x.path), func(r *event.Record) Reading {
				var near [nearNodes]node
				p := start(near[:0], r, nil, x.known)
				return p.read()
			})
			t.Logf("level %.1f, headline %.1f, ids %.1f, status %.1f percent", level, headline, ids, status)
			if level < x.level || headline < x.headline || ids < x.ids {
				t.Errorf("under the bars of %v, %v and %v percent", x.level, x.headline, x.ids)
			}
		})
	}
}

// tick is the payload of the demo's load.tick.
const tick = `{"n":4711,"service":"checkout","latencyMs":133,"status":200,"trace":"0f1e2d3c4b5a6978","note":"steady load for measuring a host from end to end; every field but this one follows from the seed and the number of the event, so a lost, doubled or changed event can be told apart by looking at the events alone, without any memory on the side of the server"}`

func BenchmarkRead(b *testing.B) {
	list := cases(b, "testdata/payloads.jsonl")
	records := make([]*event.Record, len(list))
	for i := range list {
		records[i] = list[i].record()
	}
	load := &event.Record{Kind: event.KindEvent, Type: trust.Untrusted("load.tick"), Data: []byte(tick)}
	for _, x := range []struct {
		name string
		of   []*event.Record
		do   func(*event.Record)
	}{
		{"rate/tick", []*event.Record{load}, func(r *event.Record) { Rate(r) }},
		{"read/tick", []*event.Record{load}, func(r *event.Record) { Read(r) }},
		{"rate/cases", records, func(r *event.Record) { Rate(r) }},
		{"read/cases", records, func(r *event.Record) { Read(r) }},
	} {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				x.do(x.of[i%len(x.of)])
			}
		})
	}
}
