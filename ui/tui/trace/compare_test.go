package trace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/trace"
)

func record(seq uint64, data string) *event.Record {
	return &event.Record{Seq: seq, Kind: event.KindEvent, Server: "pager", ReceivedAt: tuitest.Start, Data: json.RawMessage(data)}
}

func TestDifferingValuesAreShownBelowEachOther(t *testing.T) {
	var s tuitest.Screen
	trace.OpenComparison(tuitest.Env(), &s, record(3, `{"service":"checkout","count":1,"who":"\u001b[31mred"}`), record(1204, `{"service":"checkout","count":2}`))
	if got := s.Dialog.Title(); got != "Compare record 3 with 1,204" {
		t.Errorf("the title is %q", got)
	}
	text := s.Text(80, 12)
	for _, want := range []string{"2 differences", "count\n  - 1", "\n  + 2", "\n  + (absent)"} {
		if !strings.Contains(squeezed(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "checkout") || strings.Contains(text, "\x1b") {
		t.Errorf("what is alike, or a control character, is shown in\n%s", text)
	}
	if s.Press("esc"); s.Dialog != nil {
		t.Error("esc leaves the comparison open")
	}
}

// Scrolling shows whole differences, up to the last one.
func TestDifferencesScroll(t *testing.T) {
	var s tuitest.Screen
	a, b := map[string]int{}, map[string]int{}
	for i := range 20 {
		a[fmt.Sprintf("m%02d", i)], b[fmt.Sprintf("m%02d", i)] = 1, 2
	}
	one, _ := json.Marshal(a)
	two, _ := json.Marshal(b)
	trace.OpenComparison(tuitest.Env(), &s, record(1, string(one)), record(2, string(two)))
	shows := func(want, first string) {
		t.Helper()
		if text := s.Text(60, 10); !strings.Contains(text, want) || !strings.Contains(text, first) {
			t.Errorf("%q and %q are not in\n%s", want, first, text)
		}
	}
	shows("1 to 3", "m00")
	for _, step := range []struct{ key, shown, first string }{
		{"j", "2 to 4", "m01"}, {"k", "1 to 3", "m00"}, {"up", "1 to 3", "m00"},
		{"G", "18 to 20", "m17"}, {"down", "18 to 20", "m19"}, {"g", "1 to 3", "m00"},
	} {
		s.Press(step.key)
		shows(step.shown, step.first)
	}
}

// squeezed returns a text without blanks at the ends of its lines.
func squeezed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
