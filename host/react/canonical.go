package react

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Freeze returns the canonical JSON of a rule: members in a fixed order, spelled as in
// rules.json, defaults included, places in the file left out. Equal rules have equal bytes.
func (r *Rule) Freeze() Frozen {
	raw, err := json.Marshal(toCanonical(r))
	if err != nil {
		panic(fmt.Sprintf("rule %q: %v", r.Name, err)) // strings, numbers and lists always encode
	}
	return raw
}

// Thaw decodes a frozen rule. The rule has no places in a file.
func Thaw(f Frozen) (Rule, error) {
	dec := json.NewDecoder(bytes.NewReader(f))
	dec.DisallowUnknownFields()
	var c canonical
	if err := dec.Decode(&c); err != nil {
		return Rule{}, fmt.Errorf("stored rule: %w", err)
	}
	return c.rule(), nil
}

// Hash returns the hash that arms the rule. It covers the [Files] of made, which is the rule's
// request without members.
func (r *Rule) Hash(made Request) Hash {
	h := newHasher()
	h.add("rule", string(r.Freeze()))
	h.files(made.Files)
	for _, a := range made.Choices {
		h.add("act", a.Name)
		h.files(a.Files)
	}
	return Hash(h.sum())
}

// canonical is a rule as canonical JSON. The order of its fields is the order there.
type canonical struct {
	Name   string           `json:"name"`
	On     Source           `json:"on"`
	When   string           `json:"when,omitempty"`
	Key    []string         `json:"key,omitempty"`
	Wait   span             `json:"wait"`
	Once   *canonicalOnce   `json:"once,omitempty"`
	Age    span             `json:"age"`
	Mode   Mode             `json:"mode"`
	Window *canonicalWindow `json:"window,omitempty"`
	Limits canonicalLimits  `json:"limits"`
	Do     canonicalDo      `json:"do"`
}

type canonicalOnce struct {
	By  []string `json:"by"`
	For span     `json:"for"`
}

type canonicalWindow struct {
	Count  int  `json:"count,omitempty"`
	Within span `json:"within,omitempty"`
	Rate   int  `json:"rate,omitempty"`
	Per    span `json:"per,omitempty"`
	Absent span `json:"absent,omitempty"`
}

type canonicalLimits struct {
	Runs    rate  `json:"runs,omitzero"`
	Running int   `json:"running,omitempty"`
	Queue   int   `json:"queue,omitempty"`
	Spend   money `json:"spend,omitempty"`
	Tokens  int   `json:"tokens,omitempty"`
	Time    span  `json:"time,omitempty"`
}

type canonicalDo struct {
	Command []string `json:"command,omitempty"`
	Stdin   Stdin    `json:"stdin,omitempty"`
	Env     []string `json:"env,omitempty"`
	Dir     string   `json:"cwd,omitempty"`
	Repeat  string   `json:"repeat,omitempty"`
	Code    []string `json:"code,omitempty"`
	Confine *Confine `json:"confine,omitempty"`
	Trusted bool     `json:"trusted,omitempty"`

	Webhook string `json:"webhook,omitempty"`
	Secret  string `json:"secret,omitempty"`
	Private bool   `json:"private,omitempty"`

	Note string         `json:"note,omitempty"`
	Wish *ClientRequest `json:"wish,omitempty"`

	Model  *Task            `json:"model,omitempty"`
	Choose *canonicalChoice `json:"choose,omitempty"`

	// An agent has the members of a command too.
	Agent   []string `json:"agent,omitempty"`
	Task    string   `json:"task,omitempty"`
	Fields  []string `json:"fields,omitempty"`
	Session string   `json:"session,omitempty"`
	Tools   []Tool   `json:"tools,omitempty"`
	Flows   []Flow   `json:"flows,omitempty"`
}

type canonicalChoice struct {
	Use    Model          `json:"use"`
	Task   string         `json:"task"`
	Fields []string       `json:"fields,omitempty"`
	Acts   []canonicalAct `json:"acts"`
}

type canonicalAct struct {
	Name string      `json:"name"`
	Args []Arg       `json:"args,omitempty"`
	Mode Mode        `json:"mode"`
	Do   canonicalDo `json:"do"`
}

// Values of the members session and repeat; without the member, it is not so.
const (
	keepSession = "keep"
	repeatSafe  = "safe"
)

func toCanonical(r *Rule) canonical {
	c := canonical{
		Name: r.Name, On: r.On, When: r.When, Key: r.Key, Wait: span(r.Wait), Age: span(r.Age), Mode: r.Mode,
		Limits: canonicalLimits{rate(r.Limits.Runs), r.Limits.Running, r.Limits.Queue, money(r.Limits.Spend), r.Limits.Tokens, span(r.Limits.Time)},
	}
	if len(r.Once.By) > 0 {
		c.Once = &canonicalOnce{r.Once.By, span(r.Once.For)}
	}
	if w := r.Window; !w.IsZero() {
		c.Window = &canonicalWindow{w.Count, span(w.Within), w.Rate, span(w.Per), span(w.Absent)}
	}
	c.Do = canonicalDoOf(r.Do)
	return c
}

func canonicalDoOf(do Do) canonicalDo {
	switch {
	case do.Command != nil:
		c := commandOf(do.Command)
		c.Command = do.Command.Argv
		return c
	case do.Webhook != nil:
		w := do.Webhook
		return canonicalDo{Webhook: w.URL, Secret: w.Secret, Private: w.Private}
	case do.Task != nil:
		return canonicalDo{Model: do.Task}
	case do.Choice != nil:
		c := do.Choice
		acts := make([]canonicalAct, len(c.Acts))
		for i, a := range c.Acts {
			acts[i] = canonicalAct{a.Name, a.Args, a.Mode, canonicalDoOf(a.Do)}
		}
		return canonicalDo{Choose: &canonicalChoice{c.Model, c.Task, c.Fields, acts}}
	case do.Agent != nil:
		a := do.Agent
		c := commandOf(&a.Command)
		c.Agent, c.Task, c.Fields, c.Tools, c.Flows = a.Argv, a.Task, a.Fields, a.Tools, a.Flows
		if a.Keep {
			c.Session = keepSession
		}
		return c
	}
	return canonicalDo{Note: do.Note, Wish: do.Wish}
}

// commandOf returns the members that commands and agents share.
func commandOf(c *Command) canonicalDo {
	d := canonicalDo{Stdin: c.Stdin, Env: c.Env, Dir: c.Dir, Code: c.Code, Confine: c.Confine, Trusted: c.Trusted}
	if c.RepeatSafe {
		d.Repeat = repeatSafe
	}
	return d
}

func (c *canonical) rule() Rule {
	l := c.Limits
	r := Rule{
		Name: c.Name, On: c.On, When: c.When, Key: c.Key, Wait: time.Duration(c.Wait), Age: time.Duration(c.Age), Mode: c.Mode,
		Limits: Limits{Rate(l.Runs), l.Running, l.Queue, int64(l.Spend), l.Tokens, time.Duration(l.Time)},
	}
	if c.Once != nil {
		r.Once = Once{c.Once.By, time.Duration(c.Once.For)}
	}
	if w := c.Window; w != nil {
		r.Window = Window{w.Count, time.Duration(w.Within), w.Rate, time.Duration(w.Per), time.Duration(w.Absent)}
	}
	r.Do = c.Do.do()
	return r
}

func (d *canonicalDo) do() Do {
	switch {
	case len(d.Command) > 0:
		c := d.command(d.Command)
		return Do{Command: &c}
	case d.Webhook != "":
		return Do{Webhook: &Webhook{d.Webhook, d.Secret, d.Private}}
	case d.Model != nil:
		return Do{Task: d.Model}
	case d.Choose != nil:
		c := &Choice{Model: d.Choose.Use, Task: d.Choose.Task, Fields: d.Choose.Fields}
		for _, a := range d.Choose.Acts {
			c.Acts = append(c.Acts, Act{Name: a.Name, Args: a.Args, Mode: a.Mode, Do: a.Do.do()})
		}
		return Do{Choice: c}
	case len(d.Agent) > 0:
		return Do{Agent: &Agent{Command: d.command(d.Agent), Task: d.Task, Fields: d.Fields, Keep: d.Session == keepSession, Tools: d.Tools, Flows: d.Flows}}
	}
	return Do{Note: d.Note, Wish: d.Wish}
}

func (d *canonicalDo) command(argv []string) Command {
	return Command{argv, d.Stdin, d.Env, d.Dir, d.Repeat == repeatSafe, d.Code, d.Confine, d.Trusted}
}

// span, rate and money encode themselves as in rules.json.
type (
	span  time.Duration
	rate  Rate
	money int64
)

func (s span) MarshalText() ([]byte, error)  { return []byte(FormatDuration(time.Duration(s))), nil }
func (r rate) MarshalText() ([]byte, error)  { return []byte(Rate(r).String()), nil }
func (m money) MarshalText() ([]byte, error) { return []byte(Money(int64(m))), nil }

func (s *span) UnmarshalText(text []byte) error {
	d, err := ParseDuration(string(text))
	*s = span(d)
	return err
}

func (r *rate) UnmarshalText(text []byte) error {
	v, err := ParseRate(string(text))
	*r = rate(v)
	return err
}

func (m *money) UnmarshalText(text []byte) error {
	v, err := ParseMoney(string(text))
	*m = money(v)
	return err
}
