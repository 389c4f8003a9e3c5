package present

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/redact"
	"eventdeck/host/trust"
)

// Control is the engine of reactions with masked values, for a screen that is shown to others. It
// refuses to approve and arm, as the operator cannot read there what the act really is. The engine
// keeps everything.
type Control struct {
	react.Control
	set *redact.Set
}

var _ react.Control = (*Control)(nil)

// ErrUnread says that the request or rule to approve or arm has masked values.
var ErrUnread = errors.New("values are masked on this screen (--present); approve or arm without it, or with eventdeck approve, eventdeck rules arm")

// MaskReactions returns the engine with masked values; nil stays nil.
func MaskReactions(c react.Control) react.Control {
	if c == nil {
		return nil
	}
	return &Control{c, redact.Audience()}
}

// MaskRule returns add for rules without masked values: for others it returns [ErrMasked]. Nil stays
// nil.
func MaskRule(add func(path string, r react.Rule) error) func(string, react.Rule) error {
	if add == nil {
		return nil
	}
	return func(path string, r react.Rule) error {
		if strings.Contains(string(r.Freeze()), redact.Shown) {
			return ErrMasked
		}
		return add(path, r)
	}
}

// Approve implements [react.Control]. Error: ErrUnread.
func (p *Control) Approve(context.Context, react.RunID, string) error { return ErrUnread }

// Grant implements [react.Control]. Error: ErrUnread.
func (p *Control) Grant(context.Context, react.RunID, string, time.Time) error { return ErrUnread }

// Rule implements [react.Control]. Error: ErrUnread.
func (p *Control) Rule(context.Context, string) (react.RuleView, error) {
	return react.RuleView{}, ErrUnread
}

// Arm implements [react.Control]. Error: ErrUnread.
func (p *Control) Arm(context.Context, string, react.Hash) error { return ErrUnread }

// Reactions implements [react.Control].
func (p *Control) Reactions() react.View {
	v := p.Control.Reactions()
	v.Fault, v.Held, v.Blocked = p.set.String(v.Fault), p.set.String(v.Held), p.set.String(v.Blocked)
	v.Waiting, v.Active = p.runs(v.Waiting), p.runs(v.Active)
	v.Says = maps.Clone(v.Says)
	for id, text := range v.Says {
		v.Says[id] = p.set.Text(text)
	}
	v.Rules = slices.Clone(v.Rules)
	for i := range v.Rules {
		r := &v.Rules[i]
		r.Rule = p.rule(r.Rule)
		r.Why, r.Boundary, r.Approved = p.set.String(r.Why), p.set.String(r.Boundary), p.request(r.Approved)
	}
	return v
}

// Runs implements [react.Control].
func (p *Control) Runs(ctx context.Context, q react.Query) ([]react.Run, error) {
	runs, err := p.Control.Runs(ctx, q)
	return p.runs(runs), err
}

// Run implements [react.Control].
func (p *Control) Run(ctx context.Context, id react.RunID) (react.Run, error) {
	r, err := p.Control.Run(ctx, id)
	return p.run(r), err
}

// Steps implements [react.Control].
func (p *Control) Steps(ctx context.Context, id react.RunID) ([]react.Step, error) {
	steps, err := p.Control.Steps(ctx, id)
	out := slices.Clone(steps)
	for i := range out {
		p.step(&out[i])
	}
	return out, err
}

func (p *Control) step(s *react.Step) {
	s.Tool, s.Why, s.Args = p.set.String(s.Tool), p.set.String(s.Why), p.set.JSON(s.Args)
	if s.Result != nil {
		r := *s.Result
		r.Content = p.set.Text(r.Content)
		s.Result = &r
	}
	if s.Answer != nil {
		a := *s.Answer
		a.Text, a.Calls = p.set.Text(a.Text), slices.Clone(a.Calls)
		for i := range a.Calls {
			c := &a.Calls[i]
			c.Name, c.Args = p.set.String(c.Name), p.set.JSON(c.Args)
		}
		s.Answer = &a
	}
}

// AskModel implements [react.Control]. Error: ErrUnread.
func (p *Control) AskModel(context.Context, react.Question) (react.RunID, error) {
	return "", ErrUnread
}

// ClientRequest implements [react.Control]. Error: ErrUnread.
func (p *Control) ClientRequest(context.Context, react.ClientRequest) (react.Run, error) {
	return react.Run{}, ErrUnread
}

// Explain implements [react.Control].
func (p *Control) Explain(ctx context.Context, seq uint64, rule string) ([]react.Verdict, error) {
	verdicts, err := p.Control.Explain(ctx, seq, rule)
	paths := map[string][]string{}
	for _, r := range p.Control.Reactions().Rules {
		paths[r.Rule.Name] = r.Rule.Key
	}
	out := slices.Clone(verdicts)
	for i := range out {
		v := &out[i]
		of, known := paths[v.Rule]
		v.Why, v.Key = p.set.String(v.Why), p.key(v.Key, of, known)
		if !v.Value.IsZero() {
			v.Value = trust.Untrusted(redact.Shown) // its member is not known
		}
	}
	return out, err
}

// each returns a copy of a list with every entry masked.
func each[T any](all []T, mask func(T) T) []T {
	out := slices.Clone(all)
	for i := range out {
		out[i] = mask(out[i])
	}
	return out
}

func (p *Control) runs(runs []react.Run) []react.Run { return each(runs, p.run) }

func (p *Control) run(r react.Run) react.Run {
	rule, err := react.Thaw(r.Frozen)
	r.Key = p.key(r.Key, rule.Key, err == nil)
	r.Frozen = nil // a rule that cannot be read cannot be masked
	if err == nil {
		masked := p.rule(rule)
		r.Frozen = masked.Freeze()
	}
	r.Why, r.Reason = p.set.String(r.Why), p.set.String(r.Reason)
	r.Request, r.Began = p.request(r.Request), p.request(r.Began)
	r.Members.Top = maps.Clone(r.Members.Top)
	for path, counts := range r.Members.Top {
		counts = slices.Clone(counts)
		for i, c := range counts {
			counts[i].Value = trust.Untrusted(p.at(path, c.Value.Raw()))
		}
		r.Members.Top[path] = counts
	}
	if r.Result != nil {
		x := *r.Result
		x.Why, x.Boundary = p.set.String(x.Why), p.set.String(x.Boundary)
		p.stream(&x.Output.Stdout)
		p.stream(&x.Output.Stderr)
		x.Answer, x.Next = p.set.Text(x.Answer), p.request(x.Next)
		r.Result = &x
	}
	return r
}

func (p *Control) rule(r react.Rule) react.Rule {
	r.When = p.set.String(r.When)
	r.Do = p.do(r.Do)
	return r
}

func (p *Control) do(d react.Do) react.Do {
	d.Note, d.Wish = p.set.String(d.Note), p.clientRequest(d.Wish)
	if d.Command != nil {
		c := p.command(*d.Command)
		d.Command = &c
	}
	if d.Webhook != nil {
		w := *d.Webhook
		w.URL = p.set.String(w.URL)
		d.Webhook = &w
	}
	if d.Task != nil {
		t := *d.Task
		t.Model, t.Task, t.Tools = p.model(t.Model), p.set.String(t.Task), p.tools(t.Tools)
		d.Task = &t
	}
	if d.Choice != nil {
		c := *d.Choice
		c.Model, c.Task, c.Acts = p.model(c.Model), p.set.String(c.Task), p.acts(c.Acts)
		d.Choice = &c
	}
	if d.Agent != nil {
		a := *d.Agent
		a.Command, a.Task, a.Tools = p.command(a.Command), p.set.String(a.Task), p.tools(a.Tools)
		d.Agent = &a
	}
	return d
}

func (p *Control) clientRequest(w *react.ClientRequest) *react.ClientRequest {
	if w == nil {
		return nil
	}
	m := *w
	m.Client, m.Type, m.Args, m.Was = p.set.Text(m.Client), p.set.Text(m.Type), p.set.JSON(m.Args), p.set.JSON(m.Was)
	return &m
}

func (p *Control) command(c react.Command) react.Command {
	c.Argv, c.Dir, c.Code, c.Confine = p.argv(c.Argv), p.set.String(c.Dir), each(c.Code, p.set.String), p.confine(c.Confine)
	return c
}

func (p *Control) model(m react.Model) react.Model {
	m.URL, m.Model = p.set.String(m.URL), p.set.String(m.Model)
	return m
}

func (p *Control) acts(acts []react.Act) []react.Act {
	out := slices.Clone(acts)
	for i := range out {
		a := &out[i]
		a.Do, a.Files, a.Args = p.do(a.Do), p.files(a.Files), slices.Clone(a.Args)
		for j := range a.Args {
			g := &a.Args[j]
			g.Pattern = p.set.String(g.Pattern)
			g.Enum = each(g.Enum, func(v string) string { return p.at("."+g.Name, v) })
		}
	}
	return out
}

func (p *Control) tools(tools []react.Tool) []react.Tool { return each(tools, p.tool) }

// tool masks the fixed arguments. Whether a value is masked depends on its name too.
func (p *Control) tool(t react.Tool) react.Tool {
	t.Fix = maps.Clone(t.Fix)
	for name, raw := range t.Fix {
		t.Fix[name] = json.RawMessage(trust.CompactJSON([]byte(p.at("."+name, string(raw)))))
	}
	return t
}

func (p *Control) request(r *react.Request) *react.Request {
	if r == nil {
		return nil
	}
	m := *r
	m.Argv, m.Files = p.argv(m.Argv), p.files(m.Files)
	m.Boundary, m.URL, m.Note = p.set.String(m.Boundary), p.set.String(m.URL), p.set.String(m.Note)
	m.Input, m.Wish = []byte(p.set.String(string(m.Input))), p.clientRequest(m.Wish)
	if r.Model != nil {
		model := p.model(*r.Model)
		m.Model = &model
	}
	m.Task, m.Title, m.Choices = p.set.String(m.Task), p.set.Text(m.Title), p.acts(m.Choices)
	m.Tools = slices.Clone(m.Tools)
	for i := range m.Tools {
		t := &m.Tools[i]
		t.Tool, t.Description, t.Schema = p.tool(t.Tool), p.set.Text(t.Description), p.set.JSON(t.Schema)
	}
	return &m
}

// argv masks arguments. The value of an option, as in --token x and --token=x, is masked by the name
// of the option too.
func (p *Control) argv(args []string) []string {
	out := make([]string, len(args))
	option := ""
	for i, arg := range args {
		name, value, is := strings.Cut(arg, "=")
		switch {
		case is && strings.HasPrefix(name, "-"):
			out[i], option = name+"="+p.at(name, value), ""
		case strings.HasPrefix(arg, "-"):
			out[i], option = p.set.String(arg), arg
		default:
			out[i], option = p.at(option, arg), ""
		}
	}
	return out
}

func (p *Control) files(f react.Files) react.Files {
	f.Path, f.Dir, f.Code, f.Confine = p.set.String(f.Path), p.set.String(f.Dir), each(f.Code, p.set.String), p.confine(f.Confine)
	f.Interpreters = each(f.Interpreters, func(x react.Interpreter) react.Interpreter {
		x.Path, x.Args = p.set.String(x.Path), p.argv(x.Args)
		return x
	})
	return f
}

func (p *Control) confine(c *react.Confine) *react.Confine {
	if c == nil {
		return nil
	}
	return &react.Confine{Net: c.Net, Read: each(c.Read, p.set.String), Write: each(c.Write, p.set.String)}
}

// stream masks the output of an act. Head and tail of an output without a cut are joined first,
// since a value may cross from one to the other.
func (p *Control) stream(s *react.Stream) {
	if int64(s.Head.Len()+s.Tail.Len()) == s.Bytes {
		s.Head, s.Tail = trust.Untrusted(s.Head.Raw()+s.Tail.Raw()), trust.Text{}
	}
	s.Head, s.Tail = p.set.Text(s.Head), p.set.Text(s.Tail)
}

// key masks the key of a group: all of it if one of its paths is personal, or if the paths are not
// known.
func (p *Control) key(k react.Key, paths []string, known bool) react.Key {
	hidden := !known
	for _, path := range paths {
		hidden = hidden || p.at(path, "x") != "x"
	}
	if k != "" && hidden {
		return redact.Shown
	}
	return react.Key(p.set.String(string(k)))
}

// at masks the value at a path, such as .user.name, or of an option. It masks all of it if any
// member of the path is personal.
func (p *Control) at(path, value string) string {
	for name := range strings.FieldsFuncSeq(path, func(r rune) bool { return strings.ContainsRune(`.[]"`, r) }) {
		member, err := json.Marshal(map[string]string{name: value})
		if err != nil {
			return redact.Shown
		}
		var masked map[string]string
		if err := json.Unmarshal(p.set.JSON(member), &masked); err != nil || masked[name] != value {
			return redact.Shown
		}
	}
	return p.set.String(value)
}
