package react

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// The lines about runs of several steps. Words of a server, a model or an agent have a line of
// their own, in quotes, with every character outside of ASCII escaped.

// maxArguments is how many arguments of a call have lines of their own.
const maxArguments = 100

func (b *block) asksModel(r Request) {
	if r.Model != nil {
		b.model(*r.Model)
	}
	b.task(r.Task)
	b.tools(r.Tools, r.Flows)
	for _, a := range r.Choices {
		b.act(a)
	}
	b.caps(r)
}

func (b *block) agent(r Request) {
	b.command(r)
	b.task(r.Task)
	b.tools(r.Tools, r.Flows)
	if r.Keep {
		b.text("session", "goes on with the conversation of the last run", false)
	}
	b.text("careful", "an agent acts by itself; only the confinement bounds it, and the tools that stand here", true)
	b.caps(r)
}

// model adds which model is asked, where, and its price.
func (b *block) model(m Model) {
	b.value("model", m.Model, fmt.Sprintf(", %q of rules.json, wire %s", m.Name, m.Wire))
	b.value("asked at", m.URL, "")
	switch m.Key {
	case "":
		b.text("key", "none", false)
	case "keyring":
		b.text("key", "of the keyring", false)
	default:
		b.value("key", m.Key, " of the environment")
	}
	b.text("price", priceWords(m.Price), m.Price == nil)
	b.text("answers", fmt.Sprintf("of %d tokens at most", m.Output), false)
}

func priceWords(p *Price) string {
	switch {
	case p == nil:
		return "not known"
	case *p == Price{}:
		return "nothing"
	}
	return fmt.Sprintf("$%s a million tokens that are read, $%s that are written", Money(p.In), Money(p.Out))
}

func (b *block) task(text string) { b.words("task", text) }

// words adds a whole text, line by line.
func (b *block) words(label, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		for len(line) > maxShown {
			b.value(label, line[:maxShown], " and:")
			label, line = "", line[maxShown:]
		}
		b.value(label, line, "")
		label = ""
	}
}

func (b *block) tools(tools []Pinned, flows []Flow) {
	for _, t := range tools {
		b.pinned(t)
	}
	if len(tools) == 0 {
		b.text("tools", "none", false)
	}
	b.flows(flows)
}

// pinned adds what the operator allows of a tool, and its whole description by the server,
// which the model or agent reads too.
func (b *block) pinned(t Pinned) {
	b.tool(t.Tool)
	b.words("it says", t.Description.Raw())
	b.schema(t.Schema)
	b.text("pinned", "SHA-256 "+t.Pin, false)
}

// schema adds the schema of a tool's arguments, one argument per line.
func (b *block) schema(raw json.RawMessage) {
	text := string(raw)
	at := jsontext.SkipSpace([]byte(raw), 0)
	if !json.Valid(raw) || text[at] != '{' {
		b.quoted("schema", "", text, "")
		return
	}
	for m := jsontext.Enter(text, at); m.Next(); {
		name, value := jsontext.Unquote([]byte(m.Key)), strings.TrimSpace(text[m.Value:m.End])
		if name != "properties" || !strings.HasPrefix(value, "{") {
			b.argument("schema", name, value)
			continue
		}
		for p := jsontext.Enter(value, 0); p.Next(); {
			b.argument("takes", jsontext.Unquote([]byte(p.Key)), strings.TrimSpace(value[p.Value:p.End]))
		}
	}
}

// tool adds what the operator allows of a tool.
func (b *block) tool(t Tool) {
	b.value("tool", t.Name, ", of server:")
	b.value("", t.Server, classWords(t.Class))
	b.warn(t.Class != ToolRead)
	for _, name := range slices.Sorted(maps.Keys(t.Fix)) {
		b.argument("fixed", name, string(t.Fix[name]))
	}
	for _, name := range t.Drop {
		b.value("taken away", name, "")
	}
}

func classWords(c ToolClass) string {
	if c == ToolRead {
		return ", read: by your word it changes nothing"
	}
	return ", write: it may change something, each call is asked about"
}

func (b *block) flows(flows []Flow) {
	for _, f := range flows {
		b.value("may flow", f.From, ", what it told, to:")
		b.value("", f.To, "")
	}
}

// act says what a model may choose.
func (b *block) act(a Act) {
	b.text("may choose", a.Name+", "+string(a.Mode), a.Mode == ModeAuto)
	for _, g := range a.Args {
		b.value("with", g.Name, argWords(g))
		for _, v := range g.Enum {
			b.value("", v, "")
		}
		if g.Pattern != "" {
			b.value("", g.Pattern, "")
		}
	}
	switch do := a.Do; {
	case do.Command != nil:
		r := Request{Kind: RequestCommand, Argv: do.Command.Argv, Files: a.Files, Env: do.Command.Env, RepeatSafe: do.Command.RepeatSafe}
		if a.Path == "" { // of a rule that is not prepared
			r.Code, r.Dir, r.Confine = do.Command.Code, do.Command.Dir, do.Command.Confine
		}
		if r.Confine == nil {
			r.Boundary = "not confined: it can read and change what you can"
		}
		b.command(r)
		if do.Command.Trusted {
			b.trusted()
		}
	case do.Webhook != nil:
		b.webhook(do.Webhook.URL, do.Webhook.Secret, do.Webhook.Private)
	default:
		b.value("note", do.Note, "")
	}
}

func argWords(g Arg) string {
	switch {
	case g.Number != nil:
		return fmt.Sprintf(", a number from %s to %s", formatNumber(g.Number.Min), formatNumber(g.Number.Max))
	case g.Bool:
		return ", true or false"
	case g.Pattern != "":
		return ", an id by the pattern:"
	}
	return ", one of:"
}

func (b *block) caps(r Request) {
	words := []string{"no limit of dollars"}
	if r.Spend > 0 {
		words[0] = "$" + Money(r.Spend)
	}
	if r.Tokens > 0 {
		words = append(words, fmt.Sprintf("%d tokens", r.Tokens))
	}
	b.text("at most", strings.Join(words, ", ")+", of the whole run", false)
}

// call adds one tool call with all of its arguments.
func (b *block) call(r Request, began *Request) {
	b.value("call", r.Tool, ", of server:")
	b.value("", r.Server, classWords(r.Class))
	b.warn(r.Class != ToolRead)
	var fixed map[string]json.RawMessage
	tools := r.Tools
	if began != nil {
		tools = began.Tools
	}
	if t := FindTool(tools, r.Server, r.Tool); t != nil {
		fixed = t.Fix
	}
	b.arguments(r.Input, fixed)
	b.text("pinned", "SHA-256 "+r.Pin, false)
	b.text("step", fmt.Sprintf("%d of the run", r.Step), false)
	b.asker(began)
}

// permit adds what an agent asks permission for: only its own words.
func (b *block) permit(r Request, began *Request) {
	b.text("careful", "an agent asks leave; what stands here is its own word and not checked", true)
	b.value("it says", r.Title.Raw(), "")
	b.arguments(r.Input, nil)
	b.asker(began)
}

// asker adds which agent or model asks for a step, and its limits.
func (b *block) asker(began *Request) {
	switch {
	case began == nil:
		return
	case began.Kind == RequestAgent:
		if len(began.Argv) > 0 {
			b.value("asked by", began.Argv[0], ", an agent")
		}
		b.confine(began.Confine)
		b.text("boundary", began.Boundary, began.Confine == nil)
	case began.Model != nil:
		b.text("asked by", "a model", false)
		b.model(*began.Model)
	}
	b.task(began.Task)
	b.caps(*began)
}

// chosen adds which act a model chose, and its arguments.
func (b *block) chosen(r Request) {
	b.text("act", r.Act+", chosen by a model", true)
	var input struct {
		Args json.RawMessage `json:"args"`
	}
	if json.Unmarshal(r.Input, &input) == nil && len(input.Args) > 0 {
		b.arguments(input.Args, nil)
	}
}

// arguments adds the members of an object, one per line. The label tells which of them the rule
// fixed.
func (b *block) arguments(raw []byte, fixed map[string]json.RawMessage) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return // not stored once a run is over
	}
	at := jsontext.SkipSpace(raw, 0)
	if !json.Valid(raw) || raw[at] != '{' {
		b.quoted("arguments", "", string(raw), "")
		b.warn(true)
		return
	}
	text, seen, n, shown := string(raw), map[string]bool{}, 0, at+1
	for m := jsontext.Enter(text, at); m.Next(); n++ {
		name, value := jsontext.Unquote([]byte(m.Key)), strings.TrimSpace(text[m.Value:m.End])
		if n >= maxArguments {
			continue
		}
		shown = m.End
		label := "argument"
		if sameJSON(fixed[name], value) {
			label = "fixed"
		}
		b.argument(label, name, value)
		last := &b.lines[len(b.lines)-1]
		last.Warn = last.Warn || seen[name] // the name occurs twice: unknown which value counts
		seen[name] = true
	}
	if n > maxArguments {
		b.between("arguments", fmt.Sprintf("%d more: ", n-maxArguments), spelled(text[shown:]), "")
		b.warn(true)
	}
	if n == 0 {
		b.text("arguments", "none", false)
	}
}

// argument adds a line with a name and a JSON value. A name that is not plain gets a line of its
// own, so that it cannot look like a value.
func (b *block) argument(label, name, value string) {
	before := name + " = "
	if !plainName(name) || len(name) > topBytes {
		b.quoted(label, "", name, " is:")
		label, before = "", ""
	}
	if strings.HasPrefix(value, `"`) {
		b.quoted(label, before, jsontext.Unquote([]byte(jsontext.Inside(value))), "")
		return
	}
	b.between(label, before, spelled(string(trust.CompactJSON([]byte(value)))), "")
}

// sameJSON reports whether a value equals the fixed one.
func sameJSON(fixed json.RawMessage, value string) bool {
	return len(fixed) > 0 && storedJSON(fixed) == storedJSON(json.RawMessage(value))
}
