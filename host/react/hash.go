package react

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
)

// Hash returns what an approval is bound to: SHA-256 over every member of the request, in
// hexadecimal. Requests that differ in a byte have different hashes; whether a list is
// empty or absent makes no difference.
func (r Request) Hash() string {
	h := newHasher()
	r.addAct(h)
	h.add("run", string(r.Run))
	h.add("seq", strconv.FormatUint(r.Seq, 10))
	h.add("count", strconv.FormatUint(r.Count, 10))
	h.add("input", string(r.Input))
	return h.sum()
}

// ActHash is [Request.Hash] without what differs from run to run: the run, its members
// and the input. A grant is bound to it.
func (r Request) ActHash() string {
	h := newHasher()
	r.addAct(h)
	return h.sum()
}

func (r Request) addAct(h hasher) {
	h.add("kind", string(r.Kind))
	h.add("rule", r.Rule)
	h.add("argv", r.Argv...)
	h.add("path", r.Path)
	h.add("program", r.Program)
	env := slices.Clone(r.Env)
	slices.Sort(env)
	h.add("env", env...)
	h.add("dir", r.Dir)
	if c := r.Confine; c != nil {
		h.add("confine read", c.Read...)
		h.add("confine write", c.Write...)
		h.add("confine net", strconv.FormatBool(c.Net))
	}
	h.add("boundary", r.Boundary)
	h.add("repeat safe", strconv.FormatBool(r.RepeatSafe))
	h.add("url", r.URL)
	h.add("secret", r.Secret)
	h.add("private", strconv.FormatBool(r.Private))
	h.add("note", r.Note)
	h.add("time", r.Time.String())
}

// hasher hashes members by their names, each value with its length before it, so that no
// two lists of values give the same bytes. JSON would not do: it has one spelling for all
// bytes that are not UTF-8.
type hasher struct{ to hash.Hash }

func newHasher() hasher { return hasher{sha256.New()} }

func (h hasher) add(name string, values ...string) {
	fmt.Fprintf(h.to, "%s %d\n", name, len(values))
	for _, v := range values {
		fmt.Fprintf(h.to, "%d:%s\n", len(v), v)
	}
}

func (h hasher) sum() string { return hex.EncodeToString(h.to.Sum(nil)) }
