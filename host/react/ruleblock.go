package react

import (
	"fmt"
	"strings"
)

// RuleBlock describes what is armed with the hash of a rule: what it listens to, when and how
// often it acts, and the exact act. Both the screen and the commands show it. Characters of the
// operator's values outside of ASCII are escaped.
func RuleBlock(v RuleView) []BlockLine {
	r := v.Rule
	var b block
	b.text("rule", fmt.Sprintf("%s, %s", r.Name, r.Where), false)
	b.text("mode", string(r.Mode), false)
	for _, typ := range r.On.Types {
		b.value("listens to", typ, fmt.Sprintf(" of server %q, %s", r.On.Server, kindWord(r.On)))
	}
	if r.When == "" {
		b.text("when", "each of them", true)
	} else {
		b.value("when", r.When, "")
	}
	for _, path := range r.Key {
		b.value("grouped by", path, "")
	}
	if w := windowWords(r.Window); w != "" {
		b.text("fires", w, false)
	}
	b.text("gathers for", FormatDuration(r.Wait), false)
	for _, path := range r.Once.By {
		b.value("once for", path, ", within "+FormatDuration(r.Once.For))
	}
	b.text("late after", FormatDuration(r.Age), false)
	b.ruleLimits(r.Limits, r.Do.Task != nil || r.Do.Choice != nil || r.Do.Agent != nil)
	b.ruleAct(r.Do, v)
	could := CapabilitiesOf(r.Do, r.On.Server)
	for _, call := range could.Calls {
		b.value("asks", call, "")
	}
	b.letters(v.Letters)
	b.text("hash", string(v.ArmHash()), false)
	return b.lines
}

func kindWord(s Source) string {
	if s.Kind == "" {
		return "events"
	}
	return string(s.Kind) + "s"
}

func windowWords(w Window) string {
	switch {
	case w.Count > 0:
		return fmt.Sprintf("on %d within %s", w.Count, FormatDuration(w.Within))
	case w.Rate > 0:
		return fmt.Sprintf("on %d or more per %s", w.Rate, FormatDuration(w.Per))
	case w.Absent > 0:
		return "when there was none for " + FormatDuration(w.Absent)
	}
	return ""
}

// ruleLimits adds the limits; those of models only if the rule asks one.
func (b *block) ruleLimits(l Limits, asks bool) {
	var words []string
	if l.Runs != (Rate{}) {
		words = append(words, "runs "+l.Runs.String())
	}
	if l.Running > 0 {
		words = append(words, fmt.Sprintf("%d at the same time", l.Running))
	}
	if l.Queue > 0 {
		words = append(words, fmt.Sprintf("%d that wait", l.Queue))
	}
	if l.Spend > 0 && asks {
		words = append(words, "$"+Money(l.Spend)+" a run")
	}
	if l.Tokens > 0 && asks {
		words = append(words, fmt.Sprintf("%d tokens a run", l.Tokens))
	}
	if l.Time > 0 {
		words = append(words, "each "+FormatDuration(l.Time)+" at most")
	}
	if len(words) > 0 {
		b.text("limits", strings.Join(words, ", "), false)
	}
}

func (b *block) ruleAct(do Do, v RuleView) {
	switch {
	case do.Command != nil:
		b.program(do.Command, v.Boundary)
	case do.Webhook != nil:
		b.webhook(do.Webhook.URL, do.Webhook.Secret, do.Webhook.Private)
	case do.Task != nil:
		b.model(do.Task.Model)
		b.ruleTask(do, v, do.Task.Task, do.Task.Fields)
	case do.Choice != nil:
		b.model(do.Choice.Model)
		b.ruleTask(do, v, do.Choice.Task, do.Choice.Fields)
		for _, a := range do.Choice.Acts {
			b.act(a)
		}
	case do.Agent != nil:
		b.program(&do.Agent.Command, v.Boundary)
		b.ruleTask(do, v, do.Agent.Task, do.Agent.Fields)
		if do.Agent.Keep {
			b.text("session", "goes on with the conversation of the last run", false)
		}
	default:
		b.value("note", do.Note, "")
	}
}

// ruleTask adds the instruction of a model or an agent, what it sees, and its tools.
func (b *block) ruleTask(do Do, v RuleView, task string, fields []string) {
	b.task(task)
	for _, path := range fields {
		b.value("sees", path, "")
	}
	if len(fields) == 0 {
		b.text("sees", "the payload", false)
	}
	b.ruleTools(do, v)
}

// ruleTools adds the tools of a model or an agent with their servers' descriptions.
func (b *block) ruleTools(do Do, v RuleView) {
	tools, flows := do.Tools()
	for _, t := range tools {
		if p := FindTool(v.Tools, t.Server, t.Name); p != nil {
			b.pinned(*p)
			continue
		}
		if b.tool(t); v.Listed {
			b.text("left out", "its server does not list it now, or the tools say too much of themselves: the rule acts without it", true)
		}
	}
	if len(tools) == 0 {
		b.text("tools", "none", false)
	}
	b.flows(flows)
}

func (b *block) program(c *Command, boundary string) {
	for i, arg := range c.Argv {
		label := "program"
		if i > 0 {
			label = fmt.Sprintf("argument %d", i)
		}
		b.value(label, arg, "")
	}
	b.code(c.Code, "")
	b.place(c.Dir, c.Env, c.Confine, boundary)
	if c.Trusted {
		b.trusted()
	}
	if c.RepeatSafe {
		b.text("repeated", "when it is not known whether it ran", false)
	}
}

func (b *block) trusted() { b.text("careful", "trusted: it may act without confinement", true) }
