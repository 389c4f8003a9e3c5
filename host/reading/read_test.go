package reading_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
)

func of(data string) *event.Record {
	return &event.Record{Kind: event.KindEvent, Type: trust.Untrusted("alert"), Data: []byte(data)}
}

func ExampleRead() {
	r := reading.Read(of(`{"alert_name":"disk","status":"firing","labels":{"severity":"P2"},"text":"Disk of db-1 is full","incidentNo":"I-7"}`))
	fmt.Println(r.Level, r.Status, r.Headline.Value.Raw(), r.IDs[0].Path.Raw(), r.IDs[0].Value.Raw())
	// Output: error triggered Disk of db-1 is full .incidentNo I-7
}

func TestMapsGoFirst(t *testing.T) {
	data := `{"a":{"what":"Valve stuck","list":[{"x":1},{"x":2}]},"title":"t","severity":"low","grad":"50","status":"resolved","order":"o1"}`
	m := &reading.Map{Headline: []string{".none", ".a.what"}, Level: []string{".grad"}, IDs: []string{".a.list[1].x"}, Words: map[string]string{"50": "error"}}
	r := reading.Read(of(data), m)
	if r.Headline.Value.Raw() != "Valve stuck" || r.Headline.Path.Raw() != ".a.what" || r.Level != reading.Error || r.Severity.Path.Raw() != ".grad" || r.Status != reading.Resolved || r.IDs[0] != (reading.Field{Path: trust.Untrusted(".a.list[1].x"), Value: trust.Untrusted("2")}) {
		t.Errorf("%+v", r)
	}
	if l := reading.Rate(of(data), m); l != reading.Error {
		t.Errorf("rated %v", l)
	}
}

func TestThePriorityOfTheServer(t *testing.T) {
	r := of(`{"status":"down"}`)
	r.Labels = &event.Labels{Priority: trust.Untrusted("low")}
	if got := reading.Read(r); got.Level != reading.Info || got.Severity.Value.Raw() != "low" {
		t.Errorf("%+v", got)
	}
	if r.Data = []byte(`{"severity":"critical"}`); reading.Rate(r) != reading.Critical {
		t.Error("the payload's severity does not go first")
	}
}

// A text is not read as JSON, nor as a severity, unless a known wrapper says so.
func TestTextsOfPeopleDecideNothing(t *testing.T) {
	for _, data := range []string{
		`{"message":"{\"severity\":\"critical\"}"}`, `{"text":"critical"}`, `{"body":"[FIRING] all is lost"}`,
		`{"user":{"severity":"critical"}}`, `{"comment":{"level":"error","body":"x y z"},"title":"Hello there you"}`, `{"priority":1}`, `{"status":500}`,
	} {
		if l := reading.Rate(of(data)); l != reading.None {
			t.Errorf("%s: %v", data, l)
		}
	}
}

func TestIDsAreAtMostNine(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, `,"order%c_id":"%d"`, 'a'+i, i)
	}
	if r := reading.Read(of(`{"incident":"I-1"` + b.String() + `}`)); len(r.IDs) != 9 || r.IDs[0].Value.Raw() != "I-1" {
		t.Errorf("%v", r.IDs)
	}
}

// What stands beyond the bounds is not read.
func TestTheBounds(t *testing.T) {
	many := strings.Repeat(`{"a":0},`, 1200)
	for data, want := range map[string]reading.Level{
		`{"pad":"` + strings.Repeat("x", 60<<10) + `","severity":"error"}`: reading.Error,
		`{"pad":"` + strings.Repeat("x", 64<<10) + `","severity":"error"}`: reading.None,
		`{"severity":"error","pad":[` + many + `1]}`:                       reading.Error,
		`{"pad":[` + many + `1],"severity":"error"}`:                       reading.None,
	} {
		if got := reading.Rate(of(data)); got != want {
			t.Errorf("%.20s…, %d bytes: %v, want %v", data, len(data), got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	for data, want := range map[string]string{
		`{"severity":"P1","title":"It is \u001b[31mred","ticket":7}`: `{"headline":"It is \u001b[31mred","severity":"P1","level":"critical","status":null,"ids":[{"path":".ticket","value":"7"}]}`,
		`{}`: `{"headline":"","severity":null,"level":null,"status":null,"ids":[]}`,
	} {
		r := reading.Read(of(data))
		if got := string(append(r.AppendJSON([]byte("{")), '}')); got != want {
			t.Errorf("%s:\n%s\n%s", data, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"a":[{"b":1,"status":"firing"},{"status":"ok","x":"y z"}],"é":"ü"}`, `[1,{"id":2}]`, `"x"`, `{"a":`, `}{`, `{]0`, `{} {"a":1}`, `{"Type":"Notification","TopicArn":"a","Message":"{\"a\":[1,{}]}"}`,
		`{"message":{"data":"eyJhIjoxfQ=="},"subscription":"s"}`, `{"":{"":""}}`, `{"attributes":[{"key":"severity","value":{"stringValue":"high"}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := slices.Clone(data)
		rec := of(string(data))
		r := reading.Read(rec, &reading.Map{Headline: []string{`.a[].b`, `."é"`}, Level: []string{".a[1].status"}})
		if !slices.Equal(before, data) {
			t.Error("the payload was changed")
		}
		if got := reading.Rate(rec, &reading.Map{Level: []string{".a[1].status"}}); got != r.Level {
			t.Errorf("rated %v, read %v", got, r.Level)
		}
		if len(r.IDs) > 9 || r.Headline.Value.Len() > 700 || r.Level >= reading.Levels {
			t.Errorf("%+v", r)
		}
		if line := append(r.AppendJSON([]byte(`{`)), '}'); !json.Valid(line) {
			t.Errorf("not JSON: %s", line)
		}
	})
}
