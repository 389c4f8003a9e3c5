package react

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/form"
)

// Writer edits the operator's file of rules. It arms no rule. Its functions are called in the
// background.
type Writer struct {
	Add    func(path string, r react.Rule) error
	Text   func(path string, r react.Rule) (string, error) // the text that Add would write
	Remove func(path, name string) error                   // undoes Add
}

// Bounds of the records on which a new rule is tried: their age, and their number.
const (
	trialSpan = 24 * time.Hour
	trialMax  = 200_000
)

// ruleSchema is the JSON Schema of the form of a new rule. Other members of a rule are edited in the
// file.
const ruleSchema = `{"type":"object","required":["name","do"],"properties":{
"name":{"type":"string","pattern":"^[a-z0-9-]{1,40}$","description":"small letters, digits and hyphens"},
"when":{"type":"string","description":"a filter, as in the stream; empty: each event of the type"},
"key":{"type":"array","items":{"type":"string"},"description":"paths such as .service: events with the same values belong together"},
"wait":{"type":"string","default":"10s","description":"how long it gathers after the first event"},
"mode":{"type":"string","enum":["ask","shadow"],"description":"ask: you approve each act; shadow: it only tells what it would do. A rule acts by itself once its mode is auto in the file and you have armed it"},
"do":{"type":"string","enum":["note","command","webhook"]},
"text":{"type":"string","description":"note: what it says"},
"command":{"type":"array","items":{"type":"string"},"description":"command: an absolute path, then its arguments, one a line; the events come on standard input"},
"url":{"type":"string","description":"webhook: an https address"},
"secret":{"type":"string","description":"webhook: the variable with its secret, as ${NAME}"}}}`

// ruleForm has the values of that form.
type ruleForm struct {
	Name    string   `json:"name"`
	When    string   `json:"when,omitempty"`
	Key     []string `json:"key,omitempty"`
	Wait    string   `json:"wait,omitempty"`
	Mode    string   `json:"mode,omitempty"`
	Do      string   `json:"do"`
	Text    string   `json:"text,omitempty"`
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
	Secret  string   `json:"secret,omitempty"`
}

// Defaults of a new rule (contracts: RULE).
const (
	newWait = 10 * time.Second
	newAge  = 15 * time.Minute
)

// rule returns the rule for events of a type. Error: what is missing in the form.
func (f *ruleForm) rule(server, eventType string) (react.Rule, error) {
	r := react.Rule{Name: f.Name, On: react.Source{Server: server, Types: react.Types{eventType}, Kind: event.KindEvent}, When: strings.TrimSpace(f.When),
		Key: f.Key, Wait: newWait, Age: newAge, Mode: react.ModeAsk}
	if f.Mode == string(react.ModeShadow) {
		r.Mode = react.ModeShadow
	}
	if f.Wait != "" {
		d, err := react.ParseDuration(f.Wait)
		if err != nil {
			return r, fmt.Errorf("wait: %w", err)
		}
		r.Wait = d
	}
	switch f.Do {
	case "command":
		r.Do.Command = &react.Command{Argv: f.Command, Stdin: react.StdinEnvelope}
		if len(f.Command) == 0 || !strings.HasPrefix(f.Command[0], "/") {
			return r, fmt.Errorf("command: write the absolute path of a program in its first line")
		}
	case "webhook":
		r.Do.Webhook = &react.Webhook{URL: f.URL, Secret: f.Secret}
		if f.URL == "" || f.Secret == "" {
			return r, fmt.Errorf("webhook: write its url and the variable with its secret, as ${NAME}")
		}
	case "note":
		r.Do.Note = f.Text
		if f.Text == "" {
			return r, fmt.Errorf("text: write what the note says")
		}
	default:
		return r, fmt.Errorf("do: choose what it does")
	}
	return r, nil
}

// NewRule returns the form of a new rule for events of the server and type of a record. term is a
// filter to fill in, such as ".service=payments"; "" for none.
func (p *Pane) NewRule(of *event.Record, term string) form.Custom {
	server, typ := of.Server, of.Family().Raw()
	first, err := json.Marshal(ruleForm{Name: nameFor(typ), When: term, Wait: newWait.String(), Mode: string(react.ModeAsk), Do: "note", Text: "look at this"})
	if err != nil {
		first = []byte("{}")
	}
	read := func(raw json.RawMessage) (react.Rule, error) {
		var f ruleForm
		if err := json.Unmarshal(raw, &f); err != nil {
			return react.Rule{}, err
		}
		return f.rule(server, typ)
	}
	path := p.view.Path
	return form.Custom{
		Title: "React to events like this", Verb: "Write the rule", Server: server, Type: of.Type,
		Schema: json.RawMessage(ruleSchema), Filled: first,
		Preview: func(ctx context.Context, raw json.RawMessage) form.Preview {
			out := form.Preview{Head: "The rule, for " + path}
			r, err := read(raw)
			if err != nil {
				out.Wrong = err.Error()
				return out
			}
			if out.Text, err = p.env.Writer.Text(path, r); err != nil {
				out.Wrong = err.Error()
				return out
			}
			out.Notes = []string{"It is not armed by this: it never acts without you."}
			told, err := p.try(ctx, r)
			if err != nil {
				out.Wrong = err.Error()
				return out
			}
			out.Notes = append(out.Notes, told)
			return out
		},
		Send: func(_ context.Context, raw json.RawMessage) error {
			r, err := read(raw)
			if err != nil {
				return err
			}
			return p.env.Writer.Add(path, r)
		},
		Sent: func(raw json.RawMessage) {
			r, err := read(raw)
			if err != nil {
				return
			}
			p.stale = true
			p.env.Screen.OfferUndo("wrote the rule "+r.Name, func() tea.Cmd {
				return p.perform("took the rule "+r.Name+" out again", nil, func(context.Context) error { return p.env.Writer.Remove(path, r.Name) })
			})
		},
	}
}

// CanWriteRule reports whether there is a file of rules to write to.
func (p *Pane) CanWriteRule() bool { return p.On() && p.env.Writer.Add != nil && p.view.Path != "" }

// try describes what a rule would have matched in the last day. Errors: the rule does not compile, or
// those of the log.
func (p *Pane) try(ctx context.Context, r react.Rule) (string, error) {
	now := p.env.Now()
	set, err := react.Compile(react.File{Rules: []react.Rule{r}}, now)
	if err != nil {
		return "", err
	}
	m := set.Rule(r.Name)
	log := p.env.Log()
	matched, seen, groups, cut := uint64(0), uint64(0), map[react.Key]bool{}, false
	err = log.Before(log.Last()+1, func(rec event.Record) bool {
		if ctx.Err() != nil || now.Sub(rec.ReceivedAt) > trialSpan {
			return false
		}
		if seen++; seen > trialMax {
			cut = true
			return false
		}
		if r.On.Takes(&rec) && m.Match(&rec) {
			matched++
			groups[m.Key(&rec)] = true
		}
		return true
	})
	if err != nil {
		return "", fmt.Errorf("cannot read the log: %w", err)
	}
	span := "the last day"
	if cut {
		span = "the newest " + cells.Number(trialMax) + " records"
	}
	return fmt.Sprintf("In %s it would have matched %s in %s.", span, cells.Count(matched, "event"), cells.Count(len(groups), "group")), nil
}

// nameFor returns a name of a rule for an event type.
func nameFor(typ string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(typ))
	if name = strings.Trim(name[:min(len(name), 40)], "-"); name == "" {
		return "rule"
	}
	return name
}
