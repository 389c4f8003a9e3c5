package react

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Freeze returns the canonical JSON of a rule with its defaults, as rules.json spells its
// members, in one order. Places in the file are not in it. Rules that do the same have the
// same bytes.
func (r *Rule) Freeze() Frozen {
	raw, err := json.Marshal(toCanonical(r))
	if err != nil {
		panic(fmt.Sprintf("rule %q: %v", r.Name, err)) // strings, numbers and lists of them always can be
	}
	return raw
}

// Thaw reads a rule that was frozen. It has no places.
func Thaw(f Frozen) (Rule, error) {
	dec := json.NewDecoder(bytes.NewReader(f))
	dec.DisallowUnknownFields()
	var c canonical
	if err := dec.Decode(&c); err != nil {
		return Rule{}, fmt.Errorf("stored rule: %w", err)
	}
	return c.rule(), nil
}

// Hash returns what the rule is armed by. Path is where its command is, without symbolic
// links, and program the SHA-256 of what stands there, in hexadecimal; both are empty for a
// rule without a command.
func (r *Rule) Hash(path, program string) Hash {
	h := newHasher()
	h.add("rule", string(r.Freeze()))
	h.add("path", path)
	h.add("program", program)
	return Hash(h.sum())
}

// canonical is a rule as JSON. Its order is that of the canonical JSON.
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
	Confine *Confine `json:"confine,omitempty"`
	Trusted bool     `json:"trusted,omitempty"`

	Webhook string `json:"webhook,omitempty"`
	Secret  string `json:"secret,omitempty"`
	Private bool   `json:"private,omitempty"`

	Note string `json:"note,omitempty"`
}

// repeatSafe is the value of the member repeat.
const repeatSafe = "safe"

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
	c.Do.Note = r.Do.Note
	if d := r.Do.Command; d != nil {
		c.Do = canonicalDo{Command: d.Argv, Stdin: d.Stdin, Env: d.Env, Dir: d.Dir, Confine: d.Confine, Trusted: d.Trusted}
		if d.RepeatSafe {
			c.Do.Repeat = repeatSafe
		}
	}
	if d := r.Do.Webhook; d != nil {
		c.Do = canonicalDo{Webhook: d.URL, Secret: d.Secret, Private: d.Private}
	}
	return c
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
	switch d := c.Do; {
	case len(d.Command) > 0:
		r.Do.Command = &Command{d.Command, d.Stdin, d.Env, d.Dir, d.Repeat == repeatSafe, d.Confine, d.Trusted}
	case d.Webhook != "":
		r.Do.Webhook = &Webhook{d.Webhook, d.Secret, d.Private}
	default:
		r.Do.Note = d.Note
	}
	return r
}

// span, rate and money are written as rules.json has them.
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
