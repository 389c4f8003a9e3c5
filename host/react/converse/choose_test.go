package converse_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"eventdeck/host/model/modeltest"
	"eventdeck/host/react"
)

func choice(mode react.Mode) func(react.Model) react.Do {
	return func(m react.Model) react.Do {
		return react.Do{Choice: &react.Choice{Model: m, Task: "Choose.", Fields: []string{".id"}, Acts: []react.Act{
			{Name: "mark", Mode: mode, Do: react.Do{Note: "look"}, Args: []react.Arg{
				{Name: "service", Enum: []string{"a", "b"}}, {Name: "n", Number: &react.Range{Min: 1, Max: 5}},
				{Name: "dry", Bool: true}, {Name: "id", Pattern: "INC-[0-9]+|X"},
			}},
			{Name: "nothing", Mode: react.ModeAsk, Do: react.Do{Note: "nothing"}},
		}}}
	}
}

const chosen = `{"act":"mark","args":{"service":"a","n":2.0,"dry":true,"id":"INC-7"}}`

// A choice is one question without tools. The chosen act is carried out according to its own mode.
func TestAModelChoosesAnAct(t *testing.T) {
	for _, mode := range []react.Mode{react.ModeAuto, react.ModeAsk} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t, choice(mode))
			w.model.Play(modeltest.Reply{Text: "\n" + chosen + "\n"})
			w.begin()
			w.submit(`{"case":"1","id":"INC-7","note":"canary"}`)
			if mode == react.ModeAsk {
				r := w.only(react.Asking)
				want := `{"run":"` + string(r.ID) + `","rule":"page","seq":1,"count":1,"act":"mark","args":{"service":"a","n":2,"dry":true,"id":"INC-7"}}` + "\n"
				if r.Request.Act != "mark" || r.Request.Kind != react.RequestNote || string(r.Request.Input) != want || len(w.marked()) != 0 {
					t.Fatalf("asks for %+v, %s", r.Request, r.Request.Input)
				}
				w.approve(r)
			}
			w.only(react.Done)
			if marks := w.marked(); len(marks) != 1 || marks[0].Note != "look" {
				t.Errorf("marks are %+v", marks)
			}
			asked := w.model.Asked()
			if len(asked) != 1 || bytes.Contains(asked[0].Body, []byte("canary")) || bytes.Contains(asked[0].Body, []byte(`"tools"`)) {
				t.Errorf("asked %d times: %s", len(asked), asked[0].Body)
			}
		})
	}
}

// A chosen act has the time limit of its rule.
func TestAChosenActKeepsToTheTimeOfItsRule(t *testing.T) {
	w := newWorld(t, func(m react.Model) react.Do {
		return react.Do{Choice: &react.Choice{Model: m, Task: "Choose.", Acts: []react.Act{{Name: "go", Mode: react.ModeAsk, Do: react.Do{Command: &react.Command{Argv: []string{"/bin/true"}, Trusted: true}}}}}}
	})
	w.rule().Limits.Time = 7 * time.Second
	w.model.Play(modeltest.Reply{Text: `{"act":"go","args":{}}`})
	w.begin()
	w.submit(payload)
	if r := w.only(react.Asking); r.Request.Act != "go" || r.Request.Time != 7*time.Second {
		t.Errorf("%+v", r.Request)
	}
}

// Any answer but exactly one act with all its arguments fails, and nothing is done.
func TestChoicesThatAreNotOnTheListFail(t *testing.T) {
	for _, text := range []string{
		``, `mark`, `[` + chosen + `]`, chosen + chosen, chosen + " because", "```json\n" + chosen + "\n```", `"` + "mark" + `"`,
		strings.Replace(chosen, "mark", "other", 1), strings.Replace(chosen, "mark", "Mark", 1), strings.Replace(chosen, `"act"`, `"Act"`, 1),
		strings.Replace(chosen, `"args"`, `"why":"x","args"`, 1), strings.Replace(chosen, `"act":"mark"`, `"act":"nothing","act":"mark"`, 1),
		strings.Replace(chosen, `"a"`, `"c"`, 1), strings.Replace(chosen, `"a"`, `null`, 1), strings.Replace(chosen, `"a"`, `["a"]`, 1),
		strings.Replace(chosen, `2.0`, `6`, 1), strings.Replace(chosen, `2.0`, `"2"`, 1), strings.Replace(chosen, `2.0`, `1e999`, 1), strings.Replace(chosen, `2.0`, `0.5`, 1),
		strings.Replace(chosen, `true`, `"true"`, 1), strings.Replace(chosen, `true`, `1`, 1),
		strings.Replace(chosen, `INC-7`, `INC-7\n`, 1), strings.Replace(chosen, `INC-7`, `INC-7; rm -rf /`, 1), strings.Replace(chosen, `INC-7`, `XX`, 1),
		strings.Replace(chosen, `INC-7`, `INC-`+strings.Repeat("7", 200), 1), strings.Replace(chosen, `,"id":"INC-7"`, ``, 1),
		strings.Replace(chosen, `"dry"`, `"more":1,"dry"`, 1), strings.Replace(chosen, `"n"`, `"N"`, 1), `{"act":"nothing"}`, `{"args":{}}`, `{"act":"nothing","args":[]}`,
	} {
		w := newWorld(t, choice(react.ModeAuto))
		w.model.Play(modeltest.Reply{Text: text})
		w.open()
		w.arm()
		w.submit(payload)
		r := w.only(react.Failed)
		if r.Result.Answer.Raw() != text || len(w.marked()) != 0 {
			t.Errorf("%s: %s, marks %+v", text, r.Why, w.marked())
		}
		w.close()
	}
}

// A tool call is not a choice.
func TestAChoiceCallsNoTool(t *testing.T) {
	w := newWorld(t, choice(react.ModeAuto))
	w.model.Play(modeltest.Reply{Text: chosen, Calls: []react.Call{call("a", "pager__undo", `{"id":"1"}`)}})
	w.begin()
	w.submit(payload)
	if r := w.only(react.Failed); len(w.box.got()) != 0 || len(w.marked()) != 0 || !strings.Contains(r.Why, "called a tool") {
		t.Errorf("%s; called %v, marks %v", r.Why, w.box.got(), w.marked())
	}
}
