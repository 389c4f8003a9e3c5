package filter

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// naive is a filter with a simple, slow implementation.
type naive struct {
	text string
	take func(*event.Record) bool
}

// generator makes random filters, and records of which some match.
type generator struct{ *rand.Rand }

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g generator) filter(depth int) naive {
	if depth > 0 {
		a, b := g.filter(depth-1), g.filter(depth-1)
		switch g.IntN(5) {
		case 0:
			return naive{a.text + " " + b.text, func(r *event.Record) bool { return a.take(r) && b.take(r) }}
		case 1:
			return naive{"(" + a.text + "|" + b.text + ")", func(r *event.Record) bool { return a.take(r) || b.take(r) }}
		case 2:
			return naive{"!(" + a.text + ")", func(r *event.Record) bool { return !a.take(r) }}
		}
	}
	return g.term()
}

func (g generator) term() naive {
	word := g.pick("po", "POOL", "ex", "ünal", "É", "日本", "a", "p1", "x y", "zz", "e\n")
	quoted := `"` + word + `"`
	switch g.IntN(7) {
	case 0:
		return naive{"server:" + quoted, func(r *event.Record) bool { return has(r.Server, word) }}
	case 1:
		return naive{"type:=" + quoted, func(r *event.Record) bool { return folded(r.Type.Raw()) == folded(word) }}
	case 2:
		return naive{"flag:" + quoted, func(r *event.Record) bool {
			for _, f := range r.Flags {
				if strings.HasPrefix(folded(f), folded(word)) {
					return true
				}
			}
			return false
		}}
	case 3:
		age := time.Duration(g.IntN(60)) * time.Minute
		return naive{"since:" + age.String(), func(r *event.Record) bool { return noon.Sub(r.ReceivedAt) <= age }}
	case 4, 5:
		return g.path(word, quoted)
	}
	return naive{quoted, func(r *event.Record) bool {
		var all any
		_ = json.Unmarshal(r.Data, &all)
		if contained(all, word) {
			return true
		}
		for _, s := range append([]string{r.Server, r.Type.Raw(), r.EventID.Raw(), string(r.Kind), string(r.Mode)}, r.Flags...) {
			if has(s, word) {
				return true
			}
		}
		return false
	}}
}

func (g generator) path(word, quoted string) naive {
	name := g.pick("title", "n", "tags", "user.name", "missing", "list.n")
	values := func(r *event.Record) []any {
		var all any
		_ = json.Unmarshal(r.Data, &all)
		return reach(all, strings.Split(name, "."))
	}
	if g.IntN(2) == 0 {
		want := g.IntN(6)
		return naive{fmt.Sprintf(".%s>=%d", name, want), func(r *event.Record) bool {
			for _, v := range values(r) {
				if n, ok := v.(float64); ok && n >= float64(want) {
					return true
				}
			}
			return false
		}}
	}
	contains := g.IntN(2) == 0
	op := map[bool]string{true: "~", false: "="}[contains]
	return naive{"." + name + op + quoted, func(r *event.Record) bool {
		for _, v := range values(r) {
			if object, ok := v.(map[string]any); ok && contains && contained(object, word) {
				return true
			}
			s, ok := v.(string)
			if n, number := v.(float64); number {
				s, ok = fmt.Sprint(n), true
			}
			if ok && (contains && has(s, word) || folded(s) == folded(word)) {
				return true
			}
		}
		return false
	}}
}

// reach returns the values at the end of a path, through arrays.
func reach(v any, path []string) []any {
	switch v := v.(type) {
	case []any:
		var all []any
		for _, e := range v {
			all = append(all, reach(e, path)...)
		}
		return all
	case map[string]any:
		if len(path) == 0 {
			return []any{v}
		}
		if next, ok := v[path[0]]; ok {
			return reach(next, path[1:])
		}
		return nil
	}
	if len(path) > 0 {
		return nil
	}
	return []any{v}
}

// contained reports whether a word is in the keys or values of a payload.
func contained(v any, word string) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if contained(e, word) {
				return true
			}
		}
		return false
	case map[string]any:
		for k, e := range v {
			if has(k, word) || contained(e, word) {
				return true
			}
		}
		return false
	}
	return has(fmt.Sprint(v), word)
}

func folded(s string) string { return strings.Map(lowerRune, s) }

func has(s, word string) bool { return strings.Contains(folded(s), folded(word)) }

func (g generator) value(depth int) any {
	switch n := g.IntN(6); {
	case n == 0 && depth > 0:
		list := []any{}
		for range g.IntN(3) {
			list = append(list, g.value(depth-1))
		}
		return list
	case n == 1 && depth > 0:
		return map[string]any{"n": g.value(depth - 1), "name": g.value(depth - 1)}
	case n <= 3:
		return g.IntN(7)
	}
	return g.pick("Pool", "pool exhausted", "ÜNAL", "é", "日本語", "P1", "x y", "line\nend", `"`, "")
}

func (g generator) record() *event.Record {
	object := map[string]any{}
	for _, name := range []string{"title", "n", "tags", "user", "list"} {
		if g.IntN(4) > 0 {
			object[name] = g.value(2)
		}
	}
	data, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	if g.IntN(2) == 0 { // the same payload in another spelling
		data = []byte(strings.NewReplacer("P", `\u0050`, "é", `\u00e9`, ":", " : ", ",", "\n,").Replace(string(data)))
	}
	r := &event.Record{
		Kind: event.KindEvent, Server: g.pick("pager", "Pool", "ÉX"), Type: trust.Untrusted(g.pick("po", "incident", "x y")),
		Mode: event.ModePush, EventID: trust.Untrusted(g.pick("e1", "zz", "A")), ReceivedAt: noon.Add(-time.Duration(g.IntN(60)) * time.Minute), Data: data,
	}
	if g.IntN(2) == 0 {
		r.Flags = []string{g.pick("to-ai", "p1", "exotic")}
	}
	return r
}

func TestMatchEqualsTheNaiveImplementation(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	taken := 0
	for range 20_000 {
		n, r := g.filter(2), g.record()
		want := n.take(r)
		if got := parse(t, n.text).Match(r); got != want {
			t.Fatalf("%s on %s %s %s %v: %v, want %v", n.text, r.Server, r.Type.Raw(), r.Data, r.Flags, got, want)
		}
		if want {
			taken++
		}
	}
	if taken < 4_000 || taken > 16_000 {
		t.Errorf("%d of 20,000 were taken: the records do not test the filters", taken)
	}
}
