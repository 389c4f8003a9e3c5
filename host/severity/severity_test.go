package severity_test

import (
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/severity"
	"eventdeck/host/trust"
)

func TestSeverityIsTheSendersWord(t *testing.T) {
	for data, want := range map[string]string{
		`{"severity":"critical","level":"info"}`:         "critical",
		`{"status":"open","incident":{"severity":"P1"}}`: "P1",
		`{"status":"resolved"}`:                          "resolved",
		`{"state":"down","level":null}`:                  "down",
		`{"priority":2,"urgency":"high"}`:                "2",
		`{"sev":"cr\u0069t"}`:                            "crit",
		`{"severity":{"x":1},"level":["a"]}`:             "",
		`{"a":{"x":1},"b":{"sev":""},"c":{"sev":"p1"}}`:  "",
		`{"a":{"sev":"p1"},"urgency":"low"}`:             "low",
		`{"a":{"phase":"failed"},"phase":"up"}`:          "up",
		`{"title":"critical"}`:                           "",
		`{"status":500}`:                                 "",
		`{"status":"404","state":"open"}`:                "",
		`{"status":500,"outcome":"failed"}`:              "failed",
		`{"state":"d\u006fwn"}`:                          "down",
		`["severity"]`:                                   "",
		``:                                               "",
	} {
		if got := severity.Of(&event.Record{Data: []byte(data)}); got.Raw() != want {
			t.Errorf("%s: %q, want %q", data, got.Raw(), want)
		}
		if got := severity.Rate(&event.Record{Data: []byte(data)}); got != severity.LevelOf(want) {
			t.Errorf("%s: %s, want that of %q", data, got, want)
		}
	}
	labelled := event.Record{Data: []byte(`{"status":"down"}`), Labels: &event.Labels{Priority: trust.Untrusted("high")}}
	if got := severity.Of(&labelled); got.Raw() != "high" {
		t.Errorf("with a priority: %q", got.Raw())
	}
}

func TestLevelsOfWords(t *testing.T) {
	for word, want := range map[string]severity.Level{
		"CRITICAL": severity.Critical, "P1": severity.Critical, "error": severity.Error, "Warning": severity.Warning,
		"info": severity.Info, "resolved": severity.Good, "": severity.Unknown, "mauve": severity.Unknown, "critically wrong indeed": severity.Unknown,
	} {
		if got := severity.LevelOf(word); got != want {
			t.Errorf("%q is %v, want %v", word, got, want)
		}
	}
	last := severity.Levels
	if severity.Critical != last-1 || severity.Critical.String() != "critical" || severity.Unknown.String() != "" {
		t.Error("the levels have other words")
	}
}
