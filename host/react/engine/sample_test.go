package engine

import (
	"time"

	"eventdeck/host/react"
)

func commandRule(name string) react.Rule {
	return react.Rule{
		Name: name, On: react.Source{Server: "pager", Types: react.Types{"incident"}}, Mode: react.ModeAuto, Age: 15 * time.Minute,
		Limits: react.Limits{Running: 1, Queue: 100}, Do: react.Do{Command: &react.Command{Argv: []string{"/bin/act"}, Trusted: true}},
		Where: "rules.json:1:1",
	}
}

// asked returns a rule whose runs all ask the operator.
func asked(r react.Rule) react.Rule {
	r.Mode = react.ModeAsk
	return r
}

// grouped returns the rule with a group for each value of .k.
func grouped(r react.Rule) react.Rule {
	r.Key = []string{".k"}
	return r
}

func webhookRule(name string) react.Rule {
	r := commandRule(name)
	r.Do = react.Do{Webhook: &react.Webhook{URL: "https://example.com/hook"}}
	return r
}

func noteRule(name string) react.Rule {
	r := commandRule(name)
	r.Do = react.Do{Note: "look"}
	return r
}

func theModel() react.Model {
	return react.Model{Name: "local", Wire: react.WireChat, URL: "http://127.0.0.1:1/v1", Model: "m", Price: &react.Price{In: 1, Out: 1}, Output: 10}
}

// taskRule has a model read and, once approved, write.
func taskRule(name string) react.Rule {
	r := commandRule(name)
	r.Limits = react.Limits{Running: 1, Queue: 100, Spend: 500_000, Tokens: 100_000}
	r.Do = react.Do{Task: &react.Task{Model: theModel(), Task: "look", Tools: []react.Tool{
		{Server: "git", Name: "log", Class: react.ToolRead}, {Server: "pager", Name: "look", Class: react.ToolRead}, {Server: "pager", Name: "undo", Class: react.ToolWrite},
	}}}
	return r
}

// choiceRule has a model choose between a note that asks and one that does not.
func choiceRule(name string) react.Rule {
	r := taskRule(name)
	r.Do = react.Do{Choice: &react.Choice{Model: theModel(), Task: "choose", Acts: []react.Act{
		{Name: "look", Mode: react.ModeAuto, Do: react.Do{Note: "look"}}, {Name: "call", Mode: react.ModeAsk, Do: react.Do{Note: "call"}},
	}}}
	return r
}

// agentRule has an agent write, for which it asks by itself.
func agentRule(name string) react.Rule {
	r := taskRule(name)
	r.Do = react.Do{Agent: &react.Agent{Command: react.Command{Argv: []string{"/bin/agent"}, Trusted: true}, Task: "look", Tools: taskRule(name).Do.Task.Tools}}
	return r
}
