package reactions

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/react/engine"
)

func TestResultsActOnNoTerminal(t *testing.T) {
	r := engine.Result{Rule: "a", Key: "\"\x1b[31m\u202e\"", Members: 1, Line: "rules.json:1:1"}
	for _, line := range [][]byte{appendResult(nil, r), appendResultPlain(nil, r)} {
		if bytes.ContainsAny(line, "\x1b\u202e") {
			t.Errorf("%q", line)
		}
	}
}

func TestRulesListShowsTheEffectiveMode(t *testing.T) {
	r := &react.Rule{Name: "a", Mode: react.ModeAuto}
	until := time.Now().Add(time.Hour)
	for want, v := range map[string]*react.RuleView{
		"auto":                     nil,
		"auto, now ask, not armed": {Effective: react.ModeAsk},
		"auto, armed":              {Effective: react.ModeAuto, Armed: true},
		"auto, now ask, not armed, granted until " + until.Format(time.DateTime): {Effective: react.ModeAsk, Granted: until},
		"auto, now shadow, armed, silenced until " + until.Format(time.DateTime): {Effective: react.ModeShadow, Armed: true, Silenced: until},
	} {
		if got := modeWords(r, v, time.Now()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	line := string(appendRule(nil, r, &react.RuleView{Effective: react.ModeAsk, Hash: "00ff", Matched: 12, Suppressed: map[string]uint64{"once": 2, "age": 1}}))
	if !strings.Contains(line, `"effective":"ask","hash":"00ff","armed":false,"granted":null,"silenced":null,"matched":12,"suppressed":{"age":1,"once":2},"rule":{`) {
		t.Error(line)
	}
}
