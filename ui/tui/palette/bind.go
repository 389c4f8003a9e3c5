package palette

import (
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/config"
)

// builtIn stands in messages for the place of a default key.
const builtIn = "built in"

// Bind gives the actions of the table the operator's keys. It returns the problems, each with its
// place in the file. Of two actions with one key the one that the operator configured keeps it, of
// two configured ones the first.
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
			if k = normalized(k); k == "" {
				problems = append(problems, fmt.Sprintf("%s: %q: a key is missing, such as \"x\", \"ctrl+x\" or \"y i\"", b.Where, b.Action))
				continue
			}
			table[i].Keys = append(table[i].Keys, k)
		}
	}
	return append(problems, resolveConflicts(table, where)...)
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

// normalized returns a key in the form that is compared: "D" for "shift+d", "space" for a space.
func normalized(keys string) string {
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

// resolveConflicts removes keys until no two actions of one pane have the same key, or one that
// begins the sequence of the other.
func resolveConflicts(table []Action, where map[string]string) (problems []string) {
	for i := range table {
		x := &table[i]
		for j := range table[:i] {
			y := &table[j]
			if !x.overlaps(y) {
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

// collide reports whether two keys are the same, or one begins the sequence of the other.
func collide(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+" ") || strings.HasPrefix(b, a+" ")
}
