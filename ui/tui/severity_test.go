package tui

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// graded returns a host with events whose severity is in different members.
func graded() *fakeHost {
	h := incident()
	h.snap.Servers[0].Types[0].PayloadSchema = json.RawMessage(`{"properties":{"title":{"type":"string"},"impact":{"enum":["low","high"]}}}`)
	long := trust.Untrusted(strings.Repeat("very.", 30) + "long")
	for _, data := range []string{`{"title":"a","level":"critical"}`, `{"title":"b","status":"resolved"}`, `{"title":"c","level":"mauve\u001b[31m"}`, `{"title":"d"}`} {
		h.add(event.Record{Kind: event.KindEvent, Server: "chat", Type: long, Data: []byte(data)})
	}
	h.add(event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident.created"), Data: []byte(`{"title":"e","impact":"high"}`)})
	return h
}

// The severity is the second column at every width, also beside long texts.
func TestSeverityIsTheSecondColumn(t *testing.T) {
	for w, wants := range map[int][]string{
		200: {`\d ▌critical `, `\d ▌resolved `, `\d ▌mauve… `, `\d ▌ `, `\d ▌high  `},
		120: {`\d ▌critical `, `\d ▌resolved `, `\d ▌mauve… `, `\d ▌ `, `\d ▌high  `},
		60:  {`\d ▌crit `, `\d ▌reso `, `\d ▌mau…`, `\d ▌ `, `\d ▌high `},
		44:  {`▌crit a`, `▌reso b`, `▌     d`, `▌high e`},
	} {
		a := open(t, graded(), w, 40)
		press(t, a, "2")
		s := screenOf(a)
		for _, want := range wants {
			if !matches(want, s) {
				t.Errorf("%d cells: no %q in\n%s", w, want, s)
			}
		}
		exact(t, a)
	}
}

// The operator's setting decides where the severity of a type is; an invalid pointer is shown.
func TestOperatorSetsTheSeverity(t *testing.T) {
	h := graded()
	h.add(event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident.created"), Data: []byte(`{"title":"f","severity":"low","how":{"bad":"fatal"}}`)})
	a := openWith(t, h, Options{Settings: settingsOf(t, `{"severity": {"pager/incident.created": "/how/bad"}}`), Theme: "none"})
	if s := screenOf(a); !strings.Contains(s, "▌fatal ") {
		t.Errorf("the setting is not used:\n%s", s)
	}
	a = openWith(t, graded(), Options{Settings: settingsOf(t, `{"severity": {"pager/incident.created": "how"}}`), Theme: "none"})
	if len(a.settings.Problems) != 1 || !strings.Contains(a.settings.Problems[0], "JSON pointer") {
		t.Errorf("told is %q", a.settings.Problems)
	}
}

// The part of a time that repeats the row before is dimmer, and marks of cut texts differ from those
// of hostile characters.
func TestRepeatedPartsAreDimmer(t *testing.T) {
	a := open(t, incident(), 120, 40)
	a.Theme = mustTheme(t, "dark")
	a.restyle()
	frame := a.draw()
	if want := a.Theme.On(themes.Faint) + "14:03:05." + a.Theme.On(themes.Dim) + "6"; !strings.Contains(frame, want) {
		t.Errorf("no %q in %q", want, frame)
	}
	var c cells.Canvas
	c.Begin(&a.Theme, 6)
	c.Safe(themes.Plain, trust.Line(trust.Untrusted("abc\x1bdefgh")).Clip(5))
	c.End()
	if row := c.Top(); !strings.Contains(row, a.Theme.On(themes.Faint)+"…") {
		t.Errorf("%q", row)
	}
}

// matches reports whether a screen matches a pattern.
func matches(pattern, screen string) bool { return regexp.MustCompile(pattern).MatchString(screen) }

func mustTheme(t testing.TB, name string) themes.Theme {
	t.Helper()
	theme, ok := themes.Named(name)
	if !ok {
		t.Fatal(name)
	}
	return theme
}
