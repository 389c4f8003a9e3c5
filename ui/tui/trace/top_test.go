package trace_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/filter"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/trace"
)

// topFixture is a screen on a log in which three services have 1, 2 and 3 events, and one event
// has none.
type topFixture struct {
	tuitest.Screen
	log      tuitest.Log
	filtered string
}

func topNewFixture() *topFixture {
	d := &topFixture{}
	for i, name := range []string{"cart", "checkout", "search"} {
		for range i + 1 {
			d.log.Records = append(d.log.Records, event.Record{Kind: event.KindEvent, Data: json.RawMessage(fmt.Sprintf(`{"service":%q}`, name))})
		}
	}
	d.log.Records = append(d.log.Records, event.Record{Kind: event.KindEvent, Data: json.RawMessage(`{}`)}, event.Record{Kind: event.KindGap})
	return d
}

func (d *topFixture) open(t *testing.T) tea.Cmd {
	path, err := filter.ParsePath(".service")
	if err != nil {
		t.Fatal(err)
	}
	env := &trace.Env{Env: tuitest.Env(), Screen: d, Log: func() eventlog.Records { return &d.log }}
	return trace.OpenTop(env, func(term string) tea.Cmd { d.filtered = term; return nil }, path, func(*event.Record) bool { return true })
}

func TestFrequentValuesLeadToAFilter(t *testing.T) {
	d := topNewFixture()
	counting := d.open(t)
	if text := d.Text(80, 10); !strings.Contains(text, "counting") {
		t.Errorf("before everything is counted it shows\n%s", text)
	}
	tuitest.Run(counting)
	text := d.Text(80, 10)
	for _, want := range []string{"3 values in 7 events, 1 without", "3  ████████████ search", "1  ████ "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Index(text, "search") > strings.Index(text, "checkout") || strings.Index(text, "checkout") > strings.Index(text, "cart") {
		t.Errorf("the most frequent is not first in\n%s", text)
	}
	if d.Press("down", "enter"); d.filtered != ".service=checkout" || d.Dialog != nil {
		t.Errorf("filtered is %q", d.filtered)
	}
}

// Text that was typed while values were counted is applied too.
func TestTypingFindsValues(t *testing.T) {
	d := topNewFixture()
	counting := d.open(t)
	d.Press("c", "a", "r")
	tuitest.Run(counting)
	if text := d.Text(80, 10); !strings.Contains(text, "cart") || strings.Contains(text, "search") {
		t.Errorf("shown is\n%s", text)
	}
	if d.Press("enter"); d.filtered != ".service=cart" {
		t.Errorf("filtered is %q", d.filtered)
	}
}

func TestLogFailureIsShown(t *testing.T) {
	d := topNewFixture()
	d.log.Err = errors.New("the disk is gone")
	tuitest.Run(d.open(t))
	if text := d.Text(80, 10); !strings.Contains(text, "cannot read the log: the disk is gone") {
		t.Errorf("shown is\n%s", text)
	}
}

func TestCountingEndsWithTheList(t *testing.T) {
	d := topNewFixture()
	counting := d.open(t)
	if d.Press("enter"); d.Dialog == nil {
		t.Error("there is nothing to choose yet, and the list is closed")
	}
	d.Press("esc")
	if tuitest.Run(counting); d.Dialog != nil || d.filtered != "" {
		t.Errorf("shown is %v, filtered %q", d.Dialog, d.filtered)
	}
}
