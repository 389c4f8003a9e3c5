package react

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func fullRules() []Rule {
	base := Rule{
		Name: "page-p1", On: Source{"pager", Types{"incident.created"}, event.KindEvent}, When: ".severity=P1", Key: []string{".service", ".region"},
		Wait: 10 * time.Second, Once: Once{[]string{".incidentId"}, 6 * time.Hour}, Age: 15 * time.Minute, Mode: ModeAsk,
		Window: Window{Count: 5, Within: time.Minute},
		Limits: Limits{Rate{6, time.Hour}, 1, 100, 500_000, 100_000, 5 * time.Minute},
	}
	command, webhook, note := base, base, base
	command.Do.Command = &Command{Argv: []string{"/bin/echo", "<a>"}, Stdin: StdinNDJSON, Env: []string{"HOME"}, Dir: "/srv", RepeatSafe: true, Code: []string{"/srv/app"},
		Confine: &Confine{Read: []string{"/srv"}, Write: []string{"/tmp"}, Net: true}, Trusted: true}
	webhook.Do.Webhook = &Webhook{URL: "https://example.com", Secret: "${KEY}", Private: true}
	note.Do.Note = "look"
	task, choice, agent := base, base, base
	tools := []Tool{{Server: "git", Name: "log", Class: ToolRead}, {Server: "pager", Name: "rollback", Class: ToolWrite,
		Fix: map[string]json.RawMessage{"env": json.RawMessage(`"prod"`)}, Drop: []string{"force"}}}
	flows := []Flow{{From: "pager", To: "git"}}
	task.Do.Task = &Task{someModel(), "Find the cause.", []string{"incidentId"}, tools, flows}
	choice.Do.Choice = someChoice()
	agent.Do.Agent = &Agent{*command.Do.Command, "Look at it.", []string{".a.b"}, true, tools, flows}
	rate, absent, bare := note, note, note
	rate.Window = Window{Rate: 10, Per: time.Second}
	absent.Window = Window{Absent: 36 * time.Hour}
	rate.On.Types = Types{"incident.created", "deploy.*"}
	bare.When, bare.Key, bare.Once, bare.Window, bare.Limits = "", nil, Once{}, Window{}, Limits{}
	client := Rule{Name: ClientRule, On: Source{Server: "pager", Types: Types{"incident"}}, Mode: ModeAsk, Do: Do{Wish: someClientRequest()}}
	return []Rule{command, webhook, note, rate, task, choice, agent, absent, bare, client}
}

func someModel() Model {
	return Model{Name: "local", Wire: WireChat, URL: "http://127.0.0.1:11434/v1", Model: "qwen3", Key: "${MODEL_KEY}", Price: &Price{In: 3_000_000, Out: 15_000_000}, Output: 4096}
}

func someChoice() *Choice {
	return &Choice{someModel(), "Choose.", []string{"service"}, []Act{{
		Name: "rollback", Mode: ModeAuto, Do: Do{Command: &Command{Argv: []string{"/bin/rollback"}, Stdin: StdinEnvelope}},
		Args: []Arg{{Name: "service", Enum: []string{"a", "b"}}, {Name: "n", Number: &Range{1, 5}}, {Name: "dry", Bool: true}, {Name: "id", Pattern: "INC-[0-9]+"}},
	}, {Name: "tell", Mode: ModeAsk, Do: Do{Note: "told"}}}}
}

func TestFrozenRulesComeBack(t *testing.T) {
	for _, r := range fullRules() {
		back, err := Thaw(r.Freeze())
		if err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%s\ncame back as %+v, %v\nwas %+v", r.Freeze(), back, err, r)
		}
	}
	if _, err := Thaw(Frozen(`{"name":"a","new":1}`)); err == nil {
		t.Error("a member that is not known was passed over")
	}
}

// change gives a member at every depth another value, one at a time.
func change(v reflect.Value, path string, check func(path string)) {
	was := reflect.ValueOf(v.Interface())
	switch {
	case v.Type() == reflect.TypeFor[trust.Text]():
		v.Set(reflect.ValueOf(trust.Untrusted(v.Interface().(trust.Text).Raw() + "x")))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			change(v.Field(i), path+"."+v.Type().Field(i).Name, check)
		}
		return
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			return
		}
		change(v.Elem(), path, check)
		v.SetZero()
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.Kind() == reflect.Int, v.Kind() == reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() && path == ".Limits.Runs.Per" {
			v.SetInt(int64(time.Minute))
		} else {
			v.SetInt(v.Int() + 1)
		}
	case v.Kind() == reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case v.Kind() == reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		if v.Len() == 0 {
			return
		}
		for i := range v.Len() {
			change(v.Index(i), fmt.Sprintf("%s[%d]", path, i), check)
		}
		v.SetZero()
	default:
		v.SetZero()
	}
	if !reflect.DeepEqual(v.Interface(), was.Interface()) {
		check(path)
	}
	v.Set(was)
}

func TestEveryMemberOfARuleIsInItsHash(t *testing.T) {
	made := Request{Files: someFiles(), Choices: []Act{{Name: "rollback", Files: someFiles()}}}
	for _, r := range fullRules()[:7] {
		whole := r.Hash(made)
		other := r.Do.Note == "" // another act than a note: the note says nothing
		change(reflect.ValueOf(&r).Elem(), "", func(path string) {
			place := strings.HasSuffix(path, ".Where") || path == ".Lines"
			fromMade := strings.HasPrefix(path, ".Do.Choice.Acts[") && strings.Contains(path, "].Files")
			unused := other && path == ".Do.Note" || path == ".Do.Choice.Acts[0].Do.Note"
			if same := r.Hash(made) == whole; same != (place || fromMade || unused) {
				t.Errorf("%s changed: the hash is the same: %v", path, same)
			}
		})
		for _, files := range []*Files{&made.Files, &made.Choices[0].Files} {
			change(reflect.ValueOf(files).Elem(), "", func(path string) {
				if r.Hash(made) == whole {
					t.Errorf("%s is another one, and the hash is the same", path)
				}
			})
		}
	}
}

func TestSpellings(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "1d": day, "2d12h": 60 * time.Hour, "0s": 0, "1h30m": 90 * time.Minute,
		"": -1, "d": -1, "-1s": -1, "1": -1, "1d-1h": -1, "99999d": -1, "1w": -1, "1dx": -1, "9e9h": -1} {
		if got, err := ParseDuration(text); (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("duration %q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]Rate{"6/h": {6, time.Hour}, "100/s": {100, time.Second}, "1/d": {1, day},
		"0/h": {}, "6": {}, "/h": {}, "6/w": {}, "-1/h": {}, "6/h/h": {}, "99999999999/s": {}} {
		if got, err := ParseRate(text); (err != nil) != (want.N == 0) || got != want || err == nil && got.String() != text {
			t.Errorf("rate %q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]int64{"0.50": 500_000, "5.00": 5_000_000, "0.000001": 1, "12.345": 12_345_000,
		"": -1, "1.": -1, ".5": -1, "-1": -1, "1e3": -1, "0.0000001": -1, "9999999999999999": -1} {
		if got, err := ParseMoney(text); (err != nil) != (want < 0) || err == nil && (got != want || Money(got) != text) {
			t.Errorf("money %q: %v, %v, %q", text, got, err, Money(got))
		}
	}
	if !(Rate{61, time.Hour}).Above(Rate{1, time.Minute}) || (Rate{60, time.Hour}).Above(Rate{1, time.Minute}) {
		t.Error("rates are not compared by what they allow")
	}
}
