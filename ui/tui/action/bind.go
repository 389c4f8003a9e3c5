package action

import (
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/config"
)

// builtIn is the place of keys that the operator did not choose.
const builtIn = "built in"

// Bind gives the actions of the table the operator's keys. It returns what is
// wrong with them, each with its places; a key that two actions want goes to the
// operator's choice, and of two choices to the first.
func Bind(table []Action, chosen []config.KeyBinding) (problems []string) {
	where := map[string]string{}
	for _, b := range chosen {
		i := slices.IndexFunc(table, func(x Action) bool { return x.ID == b.Action })
		if i < 0 {
			problems = append(problems, unknownAction(table, b))
			continue
		}
		where[b.Action] = b.Where
		table[i].Keys = nil
		for _, k := range b.Keys {
			if k = spelled(k); k == "" {
				problems = append(problems, fmt.Sprintf("%s: %q: a key is missing, such as \"x\", \"ctrl+x\" or \"y i\"", b.Where, b.Action))
				continue
			}
			table[i].Keys = append(table[i].Keys, k)
		}
	}
	return append(problems, settleConflicts(table, where)...)
}

func unknownAction(table []Action, b config.KeyBinding) string {
	ids := make([]string, len(table))
	for i := range table {
		ids[i] = table[i].ID
	}
	text := fmt.Sprintf("%s: there is no action %q", b.Where, b.Action)
	if near := config.Nearest(b.Action, ids); near != "" {
		text += fmt.Sprintf(", did you mean %q?", near)
	}
	return text
}

// spelled returns a key as it is compared: a capital letter for shift and a
// letter, and the name of the space bar.
func spelled(keys string) string {
	if keys == " " {
		return "space"
	}
	parts := strings.Fields(keys)
	for i, k := range parts {
		if letter, ok := strings.CutPrefix(k, "shift+"); ok && len(letter) == 1 {
			parts[i] = strings.ToUpper(letter)
		}
	}
	return strings.Join(parts, " ")
}

// settleConflicts takes keys away until no two actions of one place have the
// same one, or one that begins the other.
func settleConflicts(table []Action, where map[string]string) (problems []string) {
	for i := range table {
		x := &table[i]
		for j := range table[:i] {
			y := &table[j]
			if !x.meets(y) {
				continue
			}
			winner, loser := y, x
			if where[y.ID] == "" && where[x.ID] != "" {
				winner, loser = x, y
			}
			loser.Keys = slices.DeleteFunc(slices.Clone(loser.Keys), func(k string) bool {
				clash := slices.ContainsFunc(winner.Keys, func(w string) bool { return collide(k, w) })
				if clash {
					problems = append(problems, fmt.Sprintf("%s: %s is the key of %q, which takes it from %q (%s)",
						placeOf(where, winner.ID), k, winner.ID, loser.ID, placeOf(where, loser.ID)))
				}
				return clash
			})
		}
	}
	return problems
}

func placeOf(where map[string]string, id string) string {
	if w := where[id]; w != "" {
		return w
	}
	return builtIn
}

// collide reports whether one key hides another: they are the same, or one is the
// beginning of the other.
func collide(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+" ") || strings.HasPrefix(b, a+" ")
}
