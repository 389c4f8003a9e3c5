package rules

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

// The members of each kind of act. The first one names the kind.
var (
	commandMembers = []string{"command", "stdin", "env", "cwd", "repeat", "code", "confine", "trusted"}
	webhookMembers = []string{"webhook", "secret", "private"}
	noteMembers    = []string{"note"}
	modelMembers   = []string{"model"}
	chooseMembers  = []string{"choose"}
	agentMembers   = []string{"agent", "task", "fields", "session", "env", "cwd", "code", "confine", "trusted", "tools", "flows"}
)

// plainActs are the kinds of acts that a model may choose, anyAct those of a rule.
var (
	plainActs = []string{"command", "webhook", "note"}
	anyAct    = append(slices.Clone(plainActs), "model", "choose", "agent")
)

// shapes says how to write each kind of act.
var shapes = map[string]string{
	"command": `"command": ["/PATH"]`, "webhook": `"webhook": "https://…"`, "note": `"note": "TEXT"`,
	"model": `"model": {"use": "NAME", "task": "TEXT"}`, "choose": `"choose": {"use": "NAME", "task": "TEXT", "acts": {…}}`,
	"agent": `"agent": ["/PATH"], "task": "TEXT"`,
}

// do parses an act of one of some kinds. server is the server of the events.
func (p *parser) do(m member, to *react.Do, server string, kinds []string) {
	all, err := p.Object(m.Start, m.End, `"do"`)
	if err != nil {
		p.took(err, `{"note": "TEXT"}`)
		return
	}
	var acts, ways []string
	for _, kind := range kinds {
		ways = append(ways, shapes[kind])
	}
	write := strings.Join(ways[:len(ways)-1], ", ") + " or " + ways[len(ways)-1]
	for _, m := range all {
		switch known := slices.Contains(anyAct, m.Key); {
		case known && !slices.Contains(kinds, m.Key):
			p.wrong(m.At, write, "a model may not choose %q", m.Key)
			return
		case known && !slices.Contains(acts, m.Key):
			acts = append(acts, m.Key)
		}
	}
	switch {
	case len(acts) == 0:
		p.wrong(m.Start, write, `"do" does not say what it does`)
	case len(acts) > 1:
		p.wrong(m.Start, "one of them, the other in a rule of its own", `"do" has %s`, strings.Join(acts, " and "))
	case acts[0] == "command":
		p.command(m, to)
	case acts[0] == "webhook":
		p.webhook(m, to)
	case acts[0] == "model":
		p.task(m, to, server)
	case acts[0] == "choose":
		p.choose(m, to, server)
	case acts[0] == "agent":
		p.agent(m, to, server)
	default:
		p.note(m, to)
	}
}

func (p *parser) note(m member, to *react.Do) {
	members, _ := p.object(m, `"do" with a note`, noteMembers...)
	for _, m := range members {
		if to.Note, _ = p.text(m, "a text"); len(to.Note) > maxNote {
			p.wrong(m.Start, fmt.Sprintf("at most %d bytes", maxNote), `"note" has %d bytes`, len(to.Note))
		}
	}
}

func (p *parser) command(m member, to *react.Do) {
	c := &react.Command{Stdin: react.StdinEnvelope}
	to.Command = c
	members, _ := p.object(m, `"do" with a command`, commandMembers...)
	for _, m := range members {
		switch m.Key {
		case "stdin":
			choice(p, m, &c.Stdin, react.StdinEnvelope, react.StdinNDJSON)
		case "repeat":
			var repeat string
			choice(p, m, &repeat, "safe")
			c.RepeatSafe = repeat != ""
		default:
			p.program(m, c)
		}
	}
}

// program parses a member that commands and agents share.
func (p *parser) program(m member, c *react.Command) {
	switch m.Key {
	case "command", "agent":
		c.Argv = p.argv(m)
	case "env":
		c.Env = p.variables(m)
	case "cwd":
		if c.Dir, _ = p.text(m, "an absolute path"); c.Dir != "" {
			p.absolute(m.Key, item{m.Start, c.Dir})
		}
	case "code":
		c.Code = p.places(m)
	case "confine":
		c.Confine = p.confine(m)
	case "trusted":
		p.truth(m, &c.Trusted)
	}
}

// argv parses a command. It is started without a shell or a search path.
func (p *parser) argv(m member) []string {
	const shape = `["/PATH/OF/THE/PROGRAM", "ARGUMENT"]`
	items, ok := p.list(m, shape)
	if !ok {
		return nil
	}
	if len(items) == 0 || len(items) > maxArgs {
		p.wrong(m.Start, shape, `%q has %d words, of 1 to %d`, m.Key, len(items), maxArgs)
		return nil
	}
	p.absolute(m.Key, items[0])
	if ext := strings.ToLower(filepath.Ext(items[0].text)); ext == ".bat" || ext == ".cmd" {
		p.wrong(items[0].at, "a program", "a %s file needs a shell", ext)
	}
	for _, i := range items {
		if strings.ContainsRune(i.text, 0) || len(i.text) > maxText {
			p.wrong(i.at, fmt.Sprintf("at most %d bytes, none of them NUL", maxText), "a word of the command cannot be handed on")
		}
	}
	return texts(items)
}

// absolute refuses a path that depends on where eventdeck was started.
func (p *parser) absolute(name string, i item) {
	if !filepath.IsAbs(i.text) {
		p.wrong(i.at, "its absolute path", "%q is the relative path %s", name, short([]byte(quoted(i.text))))
	}
}

func (p *parser) variables(m member) []string {
	const shape = `names such as ["HOME", "LANG"]`
	items, ok := p.list(m, shape)
	if !ok {
		return nil
	}
	for _, i := range items {
		if !isVariable(i.text) {
			p.wrong(i.at, shape, "%s is not the name of a variable", short([]byte(quoted(i.text))))
		}
	}
	if len(items) > maxArgs {
		p.wrong(m.Start, fmt.Sprintf("at most %d", maxArgs), "%q has %d names", m.Key, len(items))
	}
	return texts(items)
}

func isVariable(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && len(s) <= maxText &&
		strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func (p *parser) confine(m member) *react.Confine {
	c := &react.Confine{}
	members, _ := p.object(m, `"confine"`, "read", "write", "net")
	for _, m := range members {
		if m.Key == "net" {
			p.truth(m, &c.Net)
			continue
		}
		if m.Key == "read" {
			c.Read = p.places(m)
		} else {
			c.Write = p.places(m)
		}
	}
	return c
}

// places parses a list of absolute paths.
func (p *parser) places(m member) []string {
	items, _ := p.list(m, `absolute paths such as ["/srv/app"]`)
	if len(items) > maxArgs {
		p.wrong(m.Start, fmt.Sprintf("at most %d", maxArgs), "%q has %d paths", m.Key, len(items))
	}
	for _, i := range items {
		p.absolute(m.Key, i)
	}
	return texts(items)
}

func (p *parser) webhook(m member, to *react.Do) {
	w := &react.Webhook{}
	to.Webhook = w
	members, _ := p.object(m, `"do" with a webhook`, webhookMembers...)
	for _, m := range members {
		switch m.Key {
		case "webhook":
			w.URL, _ = p.text(m, "an https address")
		case "secret":
			if w.Secret, _ = p.text(m, `"${NAME}"`); w.Secret != "" {
				p.variable(m, w.Secret, `"${NAME}", with the secret in the variable NAME`)
			}
		case "private":
			p.truth(m, &w.Private)
		}
	}
	if m, ok := jsonfile.Find(members, "webhook"); ok && w.URL != "" {
		_, err := react.ParseWebhookURL(w.URL, w.Private)
		p.address(m, w.URL, err)
	}
	if _, ok := jsonfile.Find(members, "secret"); !ok {
		p.wrong(m.Start, `"secret": "${NAME}", with a variable NAME that holds whsec_…`, "the webhook has no secret to sign with")
	}
}

// address adds a mistake for an invalid address, without repeating it, as it may hold a secret.
func (p *parser) address(m member, text string, err error) {
	var wrong *react.EndpointError
	switch {
	case len(text) > maxText:
		p.wrong(m.Start, fmt.Sprintf("at most %d bytes", maxText), "%q is too long", m.Key)
	case errors.As(err, &wrong):
		p.wrong(m.Start, wrong.Write, "%q %s", m.Key, wrong.Wrong)
	}
}

// variable accepts only the name of an environment variable, not a secret itself: files are
// copied and shown. shape is what to write instead.
func (p *parser) variable(m member, text, shape string) {
	name := strings.TrimSuffix(strings.TrimPrefix(text, "${"), "}")
	if text != "${"+name+"}" || !isVariable(name) {
		p.wrong(m.Start, shape, "%q is not a variable", m.Key)
		return
	}
	if p.known.Env == nil {
		return
	}
	if value, ok := p.known.Env(name); !ok || value == "" {
		p.wrong(m.Start, "the name of a variable that is set, or set it and start eventdeck again", "the variable %s is not set", name)
	}
}
