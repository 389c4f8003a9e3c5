package react

import (
	"fmt"
	"strings"
)

// RuleBlock returns what is armed with the hash of a rule, line by line: what it listens
// to, when it acts and how often, and the exact act. It is the one rendering for the screen
// and for commands. Of values of the operator every character outside of ASCII is spelled out.
func RuleBlock(v RuleView) []BlockLine {
	r := v.Rule
	var b block
	b.text("rule", fmt.Sprintf("%s, %s", r.Name, r.Where), false)
	b.text("mode", string(r.Mode), false)
	b.value("listens to", r.On.Type, fmt.Sprintf(" of server %q, %s", r.On.Server, kindWord(r.On)))
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
	b.ruleLimits(r.Limits)
	b.ruleAct(r.Do, v.Boundary)
	if v.Letters != "" {
		b.text("letters", v.Letters+": "+letters(v.Letters), strings.Contains(v.Letters, "B") && strings.Contains(v.Letters, "C"))
	}
	b.text("hash", string(v.Hash), false)
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

func (b *block) ruleLimits(l Limits) {
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
	if l.Time > 0 {
		words = append(words, "each "+FormatDuration(l.Time)+" at most")
	}
	if len(words) > 0 {
		b.text("limits", strings.Join(words, ", "), false)
	}
}

func (b *block) ruleAct(do Do, boundary string) {
	switch {
	case do.Command != nil:
		c := do.Command
		for i, arg := range c.Argv {
			label := "program"
			if i > 0 {
				label = fmt.Sprintf("argument %d", i)
			}
			b.value(label, arg, "")
		}
		if c.Dir == "" {
			b.text("directory", "a new private one", false)
		} else {
			b.value("directory", c.Dir, "")
		}
		b.text("variables", strings.Join(append([]string{"EVENTDECK_*"}, c.Env...), " "), false)
		b.confine(c.Confine)
		if boundary != "" {
			b.text("boundary", boundary, c.Confine == nil)
		}
		if c.Trusted {
			b.text("careful", "trusted: it may be auto without confinement", true)
		}
		if c.RepeatSafe {
			b.text("repeated", "when it is not known whether it ran", false)
		}
	case do.Webhook != nil:
		b.webhook(do.Webhook.URL, do.Webhook.Secret, do.Webhook.Private)
	default:
		b.value("note", do.Note, "")
	}
}
