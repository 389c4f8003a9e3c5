package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/react"
	"eventdeck/ui/internal/reacttest"
	"eventdeck/ui/tui/internal/tuitest"
)

// offered returns the keys of the hints, with room for all of them.
func offered(a *app) (keys []string) {
	line := strings.TrimSpace(ansi.Strip(a.actions.Hints(&a.Theme, 1000, nil)))
	for _, pair := range strings.Split(line, "  ") {
		key, _, _ := strings.Cut(strings.TrimSpace(pair), " ")
		keys = append(keys, key)
	}
	return keys
}

// Each key of the hints changes the screen or shows a note, on each row of each place.
func TestOfferedKeysDoSomething(t *testing.T) {
	type place struct{ way, then []string }
	places := map[string]place{"tree": {way: []string{"1"}}, "stream": {way: []string{"2"}}, "detail": {way: []string{"2", "enter"}}, "detail alone": {way: []string{"2", "enter", "z"}}}
	for key, tabs := range map[string]int{"4": 5, "5": 3, "6": 3} {
		for tab := range tabs {
			way := append([]string{key}, slices.Repeat([]string{"]"}, tab)...)
			places["table "+strings.Join(way, "")] = place{way: way}
			places["table "+strings.Join(way, "")+", detail"] = place{way, []string{"3"}}
		}
	}
	for name, p := range places {
		t.Run(name, func(t *testing.T) { pressAllOffered(t, checkout, reacting, p.way, p.then) })
		t.Run(name+", empty", func(t *testing.T) {
			pressAllOffered(t, newFake, func() *reacttest.Engine { return &reacttest.Engine{View: react.View{On: true}} }, p.way, p.then)
		})
	}
}

// pressAllOffered presses each key of the hints on each row of a place: the one that the keys way
// lead to, or then from there.
func pressAllOffered(t *testing.T, host func() *fakeHost, engine func() *reacttest.Engine, way, then []string) {
	t.Helper()
	shown := ""
	for row := range 8 {
		to := slices.Concat(way, slices.Repeat([]string{"j"}, row), then)
		a := openOffered(t, host(), engine(), to)
		if a.draw() == shown {
			break // that was the last row
		}
		shown = a.draw()
		keys := offered(a)
		if len(keys) < 3 {
			t.Fatalf("row %d: the footer offers %q", row, keys)
		}
		for _, key := range keys {
			for _, second := range seconds(a, key) {
				pressOffered(t, openOffered(t, host(), engine(), to), row, strings.Fields(key+" "+second))
			}
		}
	}
}

// openOffered returns a screen with rows in every place, at a place.
func openOffered(t *testing.T, h *fakeHost, engine *reacttest.Engine, way []string) *app {
	t.Helper()
	a := openWith(t, h, Options{Theme: "none", React: engine, Now: tuitest.Env().Now})
	a.update(tea.WindowSizeMsg{Width: 200, Height: 60})
	look(a)
	press(t, a, way...)
	look(a)
	a.draw()
	return a
}

// seconds returns the second keys after the first key of a sequence, else one empty key.
func seconds(a *app, key string) []string {
	for i := range a.actions.Actions {
		x := &a.actions.Actions[i]
		if slices.Contains(x.Keys, key) {
			return []string{""}
		}
	}
	a.actions.Chord = key
	defer func() { a.actions.Chord = "" }()
	return slices.DeleteFunc(offered(a), func(second string) bool { return second == "esc" })
}

// pressOffered fails if keys change nothing and show no note.
func pressOffered(t *testing.T, a *app, row int, keys []string) {
	t.Helper()
	before, note := a.draw(), a.Edges.Status.Note
	quit := press(t, a, keys...)
	if !quit && a.draw() == before && a.Edges.Status.Note == note {
		t.Errorf("row %d: %s is offered and does nothing:\n%s", row, strings.Join(keys, " "), screenOf(a))
	}
}
