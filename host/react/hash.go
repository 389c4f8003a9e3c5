package react

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"
)

// Hash returns what an approval is bound to: SHA-256 over every member of the request, in
// hexadecimal. Requests that differ in one byte have different hashes; an empty list and an
// absent one are the same.
func (r Request) Hash() string {
	h := newHasher()
	r.addAct(h)
	h.add("run", string(r.Run))
	h.add("seq", strconv.FormatUint(r.Seq, 10))
	h.add("count", strconv.FormatUint(r.Count, 10))
	h.add("step", strconv.Itoa(r.Step))
	h.add("input", string(r.Input))
	return h.sum()
}

// ActHash returns what a grant is bound to: [Request.Hash] without what differs between runs,
// which is the run, its members, the step and the input. For a tool and a permit the input says
// what is done, and is included.
func (r Request) ActHash() string {
	h := newHasher()
	r.addAct(h)
	if r.Kind == RequestTool || r.Kind == RequestPermit {
		h.add("input", string(r.Input))
	}
	return h.sum()
}

// ArmHash returns what arming is bound to: the hash of the rule and the servers' descriptions of
// its tools. Without [RuleView.Tools] it is the hash of the rule.
func (v *RuleView) ArmHash() Hash {
	if len(v.Tools) == 0 {
		return v.Hash
	}
	h := newHasher()
	h.add("rule", string(v.Hash))
	for _, t := range v.Tools {
		h.tool(t)
	}
	return Hash(h.sum())
}

func (r Request) addAct(h hasher) {
	h.add("kind", string(r.Kind))
	h.add("rule", r.Rule)
	h.add("argv", r.Argv...)
	h.files(r.Files)
	env := slices.Clone(r.Env)
	slices.Sort(env)
	h.add("env", env...)
	h.add("boundary", r.Boundary)
	h.add("repeat safe", strconv.FormatBool(r.RepeatSafe))
	h.add("url", r.URL)
	h.add("secret", r.Secret)
	h.add("private", strconv.FormatBool(r.Private))
	h.add("note", r.Note)
	if w := r.Wish; w != nil {
		h.add("wish", w.Client.Raw(), string(w.Act), string(w.Sub), w.Server, w.Type.Raw(), storedJSON(w.Args), storedJSON(w.Was), string(w.Asked), string(w.Mode))
	}
	h.add("time", r.Time.String())
	if m := r.Model; m != nil {
		h.model(m)
	}
	h.add("task", r.Task)
	for _, t := range r.Tools {
		h.tool(t)
	}
	for _, f := range r.Flows {
		h.add("flow", f.From, f.To)
	}
	for _, a := range r.Choices {
		h.choice(a)
	}
	h.add("spend", strconv.FormatInt(r.Spend, 10))
	h.add("tokens", strconv.Itoa(r.Tokens))
	h.add("keep", strconv.FormatBool(r.Keep))
	h.add("origin", r.Origin)
	h.add("server", r.Server)
	h.add("tool", r.Tool)
	h.add("class", string(r.Class))
	h.add("pin", r.Pin)
	h.add("title", r.Title.Raw())
	h.add("act", r.Act)
}

// Equal reports whether the files of two commands are the same.
func (f Files) Equal(g Files) bool {
	one, two := newHasher(), newHasher()
	one.files(f)
	two.files(g)
	return one.sum() == two.sum()
}

// Digest returns the SHA-256 of data, in hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// hasher hashes named values, each with its length before it, so that different values never
// give the same bytes. JSON would not do: it replaces all bytes that are not UTF-8 alike.
type hasher struct{ to hash.Hash }

func newHasher() hasher { return hasher{sha256.New()} }

func (h hasher) add(name string, values ...string) {
	fmt.Fprintf(h.to, "%s %d\n", name, len(values))
	for _, v := range values {
		fmt.Fprintf(h.to, "%d:%s\n", len(v), v)
	}
}

func (h hasher) files(f Files) {
	h.add("program", f.Path, f.Program)
	for _, i := range f.Interpreters {
		h.add("interpreter", i.Name, i.Path, i.Program)
		h.add("its arguments", i.Args...)
	}
	h.add("code", f.Code...)
	h.add("tree", f.Tree)
	h.add("dir", f.Dir)
	if c := f.Confine; c != nil {
		h.add("confine read", c.Read...)
		h.add("confine write", c.Write...)
		h.add("confine net", strconv.FormatBool(c.Net))
	}
}

func (h hasher) model(m *Model) {
	h.add("model", m.Name, string(m.Wire), m.URL, m.Model, m.Key, strconv.Itoa(m.Output))
	if p := m.Price; p != nil {
		h.add("price", strconv.FormatInt(p.In, 10), strconv.FormatInt(p.Out, 10))
	}
}

func (h hasher) tool(t Pinned) {
	h.add("pinned", t.Server, t.Name, string(t.Class), t.Description.Raw(), storedJSON(t.Schema), t.Pin)
	for _, name := range slices.Sorted(maps.Keys(t.Fix)) {
		h.add("fix", name, storedJSON(t.Fix[name]))
	}
	h.add("drop", t.Drop...)
}

func (h hasher) choice(a Act) {
	h.add("choice", a.Name, string(a.Mode))
	h.files(a.Files)
	for _, g := range a.Args {
		h.add("arg", g.Name, strconv.FormatBool(g.Bool), g.Pattern)
		h.add("enum", g.Enum...)
		if n := g.Number; n != nil {
			h.add("number", formatNumber(n.Min), formatNumber(n.Max))
		}
	}
	raw, err := json.Marshal(canonicalDoOf(a.Do))
	if err != nil {
		panic(fmt.Sprintf("act %q: %v", a.Name, err)) // strings, numbers and lists always encode
	}
	h.add("do", string(raw))
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// storedJSON returns a JSON value as encoding/json writes it as a part of another one: without
// spaces, with some characters escaped. So a value has the same hash before and after it was
// stored.
func storedJSON(raw json.RawMessage) string {
	stored, err := json.Marshal(raw)
	if err != nil {
		return string(raw) // not JSON, and never stored
	}
	return string(stored)
}

func (h hasher) sum() string { return hex.EncodeToString(h.to.Sum(nil)) }
