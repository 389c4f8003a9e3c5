package events

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// savedArgs returns the arguments of the one stored subscription that matches the words of the
// command line: --from saved also works while the server cannot list its types. If ok is
// false, err is to be reported.
func (w target) savedArgs(ctx context.Context, store event.Store, err error) (args json.RawMessage, ok bool) {
	if !w.flags.position().Saved || ctx.Err() != nil || errors.Is(err, host.ErrNoEvents) {
		return nil, false
	}
	var found []json.RawMessage
	for _, sub := range store.Subscriptions() {
		if sub.Key.Server == w.server.Name && sub.Key.Type == w.typ && w.means(sub.Key.Args) {
			found = append(found, sub.Key.Args)
		}
	}
	if len(found) != 1 {
		return nil, false
	}
	return found[0], true
}

// means reports whether the command line could mean these arguments.
func (w target) means(args []byte) bool {
	members, err := strict.ParseObject(args, strict.Limits{})
	if err != nil || len(members) != len(w.args)+len(w.members) {
		return false
	}
	return !slices.ContainsFunc(members, func(m strict.Member) bool {
		key := m.Key.Raw()
		spelled := slices.ContainsFunc(w.args, func(a argument) bool { return a.key == key && spells(a.values, m.Value) })
		given := slices.ContainsFunc(w.members, func(o strict.Member) bool { return o.Key == m.Key && sameJSON(o.Value, m.Value) })
		return !spelled && !given
	})
}

// spells reports whether the words of an --arg could mean the value, under some schema.
func spells(words []string, value json.RawMessage) bool {
	var list []json.RawMessage
	if len(words) == 1 && spellsOne(words[0], value) {
		return true
	}
	return json.Unmarshal(value, &list) == nil && list != nil &&
		slices.EqualFunc(words, list, func(word string, item json.RawMessage) bool { return spellsOne(word, item) })
}

func spellsOne(word string, value json.RawMessage) bool {
	var text trust.Text
	if value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text.Raw() == word
	}
	return json.Valid([]byte(word)) && sameJSON([]byte(word), value)
}

// sameJSON compares values as the identity of a subscription does.
func sameJSON(a, b []byte) bool {
	wrap := func(v []byte) []byte { return slices.Concat([]byte(`{"v":`), v, []byte("}")) }
	x, errX := event.CanonicalArgs(wrap(a))
	y, errY := event.CanonicalArgs(wrap(b))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
