package filter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func seenIncidents() *Seen {
	s := &Seen{}
	s.Know("server", trust.Untrusted("chat"))
	s.Know("nonsense", trust.Untrusted("x"))
	s.Add(incident())
	r := incident()
	r.Server, r.Data = "odd server", []byte(`{"severity":"P2","title":"bad \u001b[31m","esc":"\u001b","raw":"`+"\x1b"+`","user":{"name":"Zoë"}}`)
	r.Labels = &event.Labels{Tags: []trust.Text{trust.Untrusted("eu"), trust.Untrusted("ci")}}
	r.Meta = []byte(`{"region":"eu-1","trace":{"id":"t7"}}`)
	s.Add(r)
	return s
}

func TestComplete(t *testing.T) {
	seen := seenIncidents()
	for _, c := range []struct {
		text string // ^ is the cursor
		want string // the completed texts
	}{
		{"s^", "server: sub: sev: status: since:"},
		{"pool ty^", "pool type:"},
		{"pool (!ser^ x)", "pool (!server: x)"},
		{"ser^ver", "server:"},
		{"nothing^", ""},
		{"server:^", `server:Pagerduty server:chat server:"odd server"`},
		{"server:a^ x", `server:Pagerduty x server:chat x`},
		{`server:"odd s^`, `server:"odd server"`},
		{"server:=pa^", "server:=Pagerduty"},
		{"mode:pu^", "mode:push"},
		{"kind:^", "kind:event kind:gap kind:state kind:rejected"},
		{"flag:^", `flag:any flag:control flag:to-ai`},
		{"sev:^", "sev:P1 sev:P2"},
		{"since:1^", "since:10m since:1h since:1d"},
		{"foo:^", ""},
		{"m^", "mode: meta."},
		{"tag:^", "tag:eu tag:ci"},
		{"meta.^", "meta.region meta.trace.id"},
		{"meta.region=^", "meta.region=eu-1"},
		{".use^", ".user.email .user.name"},
		{".name^", `."odd name" .user.name`},
		{".severity=^", ".severity=P1 .severity=P2"},
		{".severity!=p2^", ".severity!=P2"},
		{".user.name~Z^", ".user.name~Zoë"},
		{".items.id>^", ".items.id>1 .items.id>22"},
		{`"ser^`, ""},
		{"/ser^", ""},
		{"/a b/ ser^", "/a b/ server:"},
		{`"a b" ser^`, `"a b" server:`},
	} {
		cursor := strings.Index(c.text, "^")
		text := strings.Replace(c.text, "^", "", 1)
		var got []string
		for _, x := range Complete(text, cursor, seen) {
			got = append(got, text[:x.From]+x.Text+text[x.To:])
		}
		slices.Sort(got)
		if want := strings.Fields(c.want); strings.Join(fieldsSorted(got), " ") != strings.Join(fieldsSorted(want), " ") {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	if n := len(Complete("", 0, nil)); n != int(fields)+2 {
		t.Errorf("an empty filter has %d candidates", n)
	}
}

func fieldsSorted(texts []string) []string {
	all := strings.Fields(strings.Join(texts, " "))
	slices.Sort(all)
	return all
}

// Servers control neither how much is kept nor what a terminal does.
func TestSeenIsBoundedAndClean(t *testing.T) {
	s := &Seen{}
	for i := range 1000 {
		s.Add(&event.Record{Server: fmt.Sprint("s", i), Flags: []string{fmt.Sprint("f", i)}, Data: fmt.Appendf(nil,
			`{"k%d":"v","same":"v%d","%s":1,"long":"%s","\u202e":1,"`+"\u202e"+`":2,"bidi":"`+"a\u202eb"+`","d":%s}`,
			i, i, strings.Repeat("k", 100), strings.Repeat("v", 100), strings.Repeat(`{"a":`, 50)+"1"+strings.Repeat("}", 50))})
	}
	if len(s.paths) > seenNames || len(s.texts) > seenNames || len(s.at(".same")) != seenValues || len(s.values(fieldServer)) != seenNames {
		t.Errorf("%d paths, %d of one, %d servers", len(s.paths), len(s.at(".same")), len(s.values(fieldServer)))
	}
	for _, text := range []string{".", ".bidi=", ".long=", "flag:"} {
		for _, c := range Complete(text, len(text), s) {
			if trust.Line(trust.Untrusted(c.Text)).Plain() != c.Text || len(c.Text) > 2*seenBytes {
				t.Errorf("%q offers %q", text, c.Text)
			}
		}
	}
}

func FuzzComplete(f *testing.F) {
	f.Add("server:p", 3, `{"a":"b"}`)
	f.Add(`.a."b c"=`, 9, `{"a":{"b c":"\u0041"}}`)
	f.Add(".ˌ", 2, `{"ˌ":1}`) // the cursor is within a character
	f.Fuzz(func(t *testing.T, text string, cursor int, data string) {
		s := &Seen{}
		s.Add(&event.Record{Server: data, Data: []byte(data)})
		for _, c := range Complete(text, cursor, s) {
			if c.From < 0 || c.To > len(text) || c.From > c.To {
				t.Fatalf("%q at %d replaces %d to %d", text, cursor, c.From, c.To)
			}
			if strings.HasSuffix(c.Text, ":") || c.Text == "." {
				continue
			}
			if f, err := Parse(c.Text, noon); err == nil && f.Everything() {
				t.Errorf("%q at %d offers %q, which asks for nothing", text, cursor, c.Text)
			} else if err != nil && !strings.HasPrefix(c.Text, "since:") && !strings.HasPrefix(c.Text, "until:") {
				t.Errorf("%q at %d offers %q: %v", text, cursor, c.Text, err)
			}
		}
	})
}
