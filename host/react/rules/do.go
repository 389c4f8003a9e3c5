package rules

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

// The members of each kind of act. The first one names it.
var (
	commandMembers = []string{"command", "stdin", "env", "cwd", "repeat", "confine", "trusted"}
	webhookMembers = []string{"webhook", "secret", "private"}
	noteMembers    = []string{"note"}
)

// laterActs are reserved.
var laterActs = []string{"model", "choose", "agent", "channel"}

func (p *parser) do(m member, r *react.Rule) {
	all, err := p.Object(m.Start, m.End, `"do"`)
	if err != nil {
		p.took(err, `{"note": "TEXT"}`)
		return
	}
	var acts []string
	for _, m := range all {
		if slices.Contains(laterActs, m.Key) {
			p.wrong(m.At, "a command, a webhook or a note", "%q: not in this version", m.Key)
			return
		}
		if slices.Contains([]string{"command", "webhook", "note"}, m.Key) && !slices.Contains(acts, m.Key) {
			acts = append(acts, m.Key)
		}
	}
	switch {
	case len(acts) == 0:
		p.wrong(m.Start, `"command": ["/PATH"], "webhook": "https://…" or "note": "TEXT"`, `"do" says not what it does`)
	case len(acts) > 1:
		p.wrong(m.Start, "one of them, the other in a rule of its own", `"do" has %s`, strings.Join(acts, " and "))
	case acts[0] == "command":
		p.command(m, r)
	case acts[0] == "webhook":
		p.webhook(m, r)
	default:
		p.note(m, r)
	}
}

func (p *parser) note(m member, r *react.Rule) {
	members, _ := p.object(m, `"do" with a note`, noteMembers...)
	for _, m := range members {
		if r.Do.Note, _ = p.text(m, "a text"); len(r.Do.Note) > maxNote {
			p.wrong(m.Start, fmt.Sprintf("at most %d bytes", maxNote), `"note" has %d bytes`, len(r.Do.Note))
		}
	}
}

func (p *parser) command(m member, r *react.Rule) {
	c := &react.Command{Stdin: react.StdinEnvelope}
	r.Do.Command = c
	members, _ := p.object(m, `"do" with a command`, commandMembers...)
	for _, m := range members {
		switch m.Key {
		case "command":
			c.Argv = p.argv(m)
		case "stdin":
			choice(p, m, &c.Stdin, react.StdinEnvelope, react.StdinNDJSON)
		case "env":
			c.Env = p.variables(m)
		case "cwd":
			if c.Dir, _ = p.text(m, "an absolute path"); c.Dir != "" {
				p.absolute(m.Key, item{m.Start, c.Dir})
			}
		case "repeat":
			var repeat string
			choice(p, m, &repeat, "safe")
			c.RepeatSafe = repeat != ""
		case "confine":
			c.Confine = p.confine(m)
		case "trusted":
			p.truth(m, &c.Trusted)
		}
	}
}

// argv reads a command. It is started without a shell, so that nothing in it is looked up.
func (p *parser) argv(m member) []string {
	const shape = `["/PATH/OF/THE/PROGRAM", "ARGUMENT"]`
	items, ok := p.list(m, shape)
	if !ok {
		return nil
	}
	if len(items) == 0 || len(items) > maxArgs {
		p.wrong(m.Start, shape, `"command" has %d words, of 1 to %d`, len(items), maxArgs)
		return nil
	}
	p.absolute("command", items[0])
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
		items, _ := p.list(m, `absolute paths such as ["/srv/app"]`)
		if len(items) > maxArgs {
			p.wrong(m.Start, fmt.Sprintf("at most %d", maxArgs), "%q has %d paths", m.Key, len(items))
		}
		for _, i := range items {
			p.absolute(m.Key, i)
		}
		if m.Key == "read" {
			c.Read = texts(items)
		} else {
			c.Write = texts(items)
		}
	}
	return c
}

func (p *parser) webhook(m member, r *react.Rule) {
	w := &react.Webhook{}
	r.Do.Webhook = w
	members, _ := p.object(m, `"do" with a webhook`, webhookMembers...)
	for _, m := range members {
		switch m.Key {
		case "webhook":
			w.URL, _ = p.text(m, "an https address")
		case "secret":
			if w.Secret, _ = p.text(m, `"${NAME}"`); w.Secret != "" {
				p.secret(m, w.Secret)
			}
		case "private":
			p.truth(m, &w.Private)
		}
	}
	if m, ok := jsonfile.Find(members, "webhook"); ok && w.URL != "" {
		p.address(m, w)
	}
	if _, ok := jsonfile.Find(members, "secret"); !ok {
		p.wrong(m.Start, `"secret": "${NAME}", with a variable NAME that holds whsec_…`, "the webhook has no secret to sign with")
	}
}

// address refuses what a webhook may not be sent to. The address itself may be a secret and
// is not repeated.
func (p *parser) address(m member, w *react.Webhook) {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Host == "" || len(w.URL) > maxText:
		p.wrong(m.Start, "https://HOST/PATH", `"webhook" is no address`)
	case u.Scheme == "http" && w.Private && isLoopback(u.Hostname()):
	case u.Scheme != "https":
		p.wrong(m.Start, `https://…, or "private": true with http on this machine`, `"webhook" begins with %s:`, short([]byte(u.Scheme)))
	case u.User != nil || u.Fragment != "":
		p.wrong(m.Start, "the address without them", `"webhook" has a user or a fragment`)
	}
}

// isLoopback reports whether a host is this machine by its name or address.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// secret takes the name of a variable alone: files are copied and shown.
func (p *parser) secret(m member, text string) {
	name := strings.TrimSuffix(strings.TrimPrefix(text, "${"), "}")
	if text != "${"+name+"}" || !isVariable(name) {
		p.wrong(m.Start, `"${NAME}", with the secret in the variable NAME`, `"secret" is not a variable`)
		return
	}
	if p.known.Env == nil {
		return
	}
	if value, ok := p.known.Env(name); !ok || value == "" {
		p.wrong(m.Start, "the name of a variable that is set, or set it and start eventdeck again", "the variable %s is not set", name)
	}
}
