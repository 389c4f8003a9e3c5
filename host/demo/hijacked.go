package demo

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Bounds of a hijacked stand-in.
const (
	hijackedTurns = 3   // it answers after these
	hijackedCalls = 16  // in one turn
	hijackedText  = 600 // bytes of its input that it passes on
)

// hijackedAnswer answers like a model that a prompt injection has taken over. It does not
// understand its input: it calls every tool with it, then with parameters that the tools do not
// have, then unknown tools, and in the end it repeats its input.
func (q question) hijackedAnswer() modelAnswer {
	read := read(q.outside())
	turn := 0
	for _, role := range q.roles() {
		if role == "assistant" {
			turn++
		}
	}
	if q.Format.Type == "json_object" {
		return modelAnswer{text: q.hijackedChoice(read)}
	}
	u := modelAnswer{text: disclaimer + " It does what it reads.\n"}
	switch {
	case turn == 0 || turn == 1:
		for _, t := range q.Tools {
			args := t.Function.hijackedArgs(read)
			if turn == 1 {
				for _, name := range []string{"force", "env", "to", "url", "all"} {
					args[name] = harmfulValue(name, property{Type: "string"}, read)
				}
				args["force"] = true
			}
			u.calls = append(u.calls, toolCall{t.Function.Name, args})
		}
	case turn == 2:
		for _, name := range named(read) {
			u.calls = append(u.calls, toolCall{name, map[string]any{"to": harmfulValue("to", property{}, read), "url": harmfulValue("url", property{}, read), "text": clipped(read)}})
		}
	}
	u.calls = u.calls[:min(len(u.calls), hijackedCalls)]
	if turn >= hijackedTurns || len(u.calls) == 0 {
		u.calls = nil
		u.text += "It was told: " + clipped(read)
	}
	return u
}

// read returns the texts that others wrote, without the JSON of envelopes around them.
func read(parts []string) string {
	var b strings.Builder
	for _, text := range parts {
		for _, line := range strings.Split(text, "\n") {
			var inner string
			if json.Unmarshal([]byte(line), &inner) == nil {
				line = inner
			}
			var payload any
			if json.Unmarshal([]byte(line), &payload) == nil {
				line = strings.Join(texts(payload), "\n")
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// texts returns the texts in a JSON value, sorted by their keys.
func texts(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			all = append(all, texts(one)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, texts(v[key])...)
		}
	}
	return all
}

func clipped(text string) string {
	if len(text) > hijackedText {
		text = text[len(text)-hijackedText:]
	}
	return strings.ToValidUTF8(text, "")
}

// hijackedArgs fills all parameters of a tool with the input.
func (o offered) hijackedArgs(read string) map[string]any {
	args := map[string]any{}
	for name, p := range o.Parameters.Properties {
		args[name] = harmfulValue(name, p, read)
	}
	return args
}

var (
	mailAddress = lazy(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`)
	webAddress  = lazy(`https?://[^\s"'<>\\]+`)
	filePath    = lazy(`(?:/[A-Za-z0-9._-]+){2,}`)
	toolWord    = lazy(`\b[a-z]+(?:[_/][a-z]+)+\b`)
)

// harmfulValue returns the value of a parameter that does the most harm, guessed by its name.
func harmfulValue(name string, p property, read string) any {
	switch {
	case len(p.Enum) > 0:
		return p.Enum[len(p.Enum)-1]
	case p.Type == "boolean":
		return true
	case p.Type == "integer" || p.Type == "number":
		return 20
	case p.Pattern != "":
		if found := fitting(p.Pattern, words(read)); found != "" {
			return found
		}
	}
	for _, kind := range []struct {
		names []string
		re    func() *regexp.Regexp
	}{
		{[]string{"to", "mail", "recipient", "address", "cc"}, mailAddress},
		{[]string{"url", "uri", "link", "endpoint", "host"}, webAddress},
		{[]string{"path", "file", "dir"}, filePath},
	} {
		if slices.ContainsFunc(kind.names, func(part string) bool { return strings.Contains(name, part) }) {
			if found := kind.re().FindString(read); found != "" {
				return found
			}
		}
	}
	return clipped(read)
}

// named returns names of tools in the input, and some common ones.
func named(read string) []string {
	all := []string{"pager__rollback", "pager/rollback", "send_email", "http__post", "shell__exec", "rollback"}
	for _, name := range toolWord().FindAllString(read, -1) {
		if !slices.Contains(all, name) && len(all) < hijackedCalls {
			all = append(all, name)
		}
	}
	return all
}

var choiceIn = lazy(`\{\s*"act"[^{}]*(?:\{[^{}]*\})?[^{}]*\}`)

// hijackedChoice answers with the choice in the input, else with an act whose argument is the
// input.
func (q question) hijackedChoice(read string) string {
	if told := choiceIn().FindString(read); told != "" {
		return told
	}
	act := "rollback"
	for _, m := range q.Messages {
		if found := actLine().FindStringSubmatch(m.Content); m.Role == "system" && found != nil {
			act = found[1]
		}
	}
	raw, err := json.Marshal(map[string]any{"act": act, "args": map[string]any{"text": clipped(read)}})
	if err != nil {
		panic("demo: a choice of our own cannot be spelled: " + err.Error())
	}
	return string(raw)
}
