package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/memo"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// filterSays is what stands under the filter while nothing is wrong with it.
const filterSays = "enter keep  tab complete  up earlier  esc undo   words !not a|b server: sev: .path>5 since:10m"

// openFilter opens the filter as it is. The stream follows what is typed, as
// long as it is a filter.
func (a *app) openFilter() tea.Cmd {
	before, place := a.stream.Query, a.stream.Place()
	a.enter(layout.Stream)
	p := &widget.Prompt{
		Label: "/", Says: filterSays, Past: a.memo.Filters,
		Change: func(text string) { a.tryFilter(before.Node, text) },
		Gone:   func() { a.stream.ShowAt(before, place) },
		Tab:    a.completeFilterBar,
		Done: func(text string) tea.Cmd {
			if a.tryFilter(before.Node, text) {
				a.memo.Filters = widget.Remember(a.memo.Filters, text)
			}
			a.stream.Stay()
			return nil
		},
	}
	a.typing = typing{prompt: p, before: before}
	a.askLine(p, before.Text)
	a.filtered()
	return a.learn()
}

// tryFilter shows what a text takes, if it is a filter, and says at the prompt
// how many that are or what is wrong.
func (a *app) tryFilter(n query.Node, text string) bool {
	q, err := query.New(n, text, a.Clock())
	if err != nil {
		if a.prompt != nil {
			a.prompt.Problem = err.Error()
		}
		return false
	}
	if a.stream.Query.Text != q.Text || a.stream.Query.Node != q.Node || a.stream.Query.Off {
		a.requery(q)
	}
	a.filtered()
	if h, ok := filter.HintOf(text, a.seen); ok && a.prompt != nil {
		a.prompt.Warning = h.Says
		if h.Meant != "" {
			a.prompt.Warning = "tab: " + h.Meant + "   (" + h.Says + ")"
		}
	}
	return true
}

// filterHint says how the filter that finds nothing was understood, where that is likely
// not what was meant.
func (a *app) filterHint() []string {
	h, ok := filter.HintOf(a.stream.Query.Text, a.seen)
	if !ok || a.stream.Query.Off {
		return nil
	}
	return []string{strings.ToUpper(h.Says[:1]) + h.Says[1:] + ".", h.Meant, ""}
}

// filtered says at the prompt how much is shown, and how far back the search for it
// has come.
func (a *app) filtered() {
	if a.prompt == nil || a.prompt != a.typing.prompt || len(a.typing.offers.list) > 0 && a.prompt.Says == a.typing.offers.words() {
		return
	}
	if a.prompt.Says = filterSays; !a.stream.Query.Filters() {
		return
	}
	n := cells.Number(uint64(len(a.stream.Seqs)))
	back, searching := a.stream.Searching()
	words := n + " shown"
	switch {
	case searching && back.IsZero():
		words = "searching, " + n + " so far"
	case searching:
		words = "searching, back to " + a.momentOf(back) + ", " + n + " so far"
	case !a.stream.Oldest && len(a.stream.Seqs) > 0:
		words = n + "+ shown"
	}
	a.prompt.Says = words + "   " + filterSays
}

// toggleFilter turns the filter off, and on again.
func (a *app) toggleFilter() {
	q := a.stream.Query
	if q.Text == "" {
		a.Tell("there is no filter to turn off; " + a.KeyOf("filter") + " makes one")
		return
	}
	q.Off = !q.Off
	a.requery(q)
	if q.Off {
		a.Tell("the filter is off, and kept")
	}
}

// loadFilters reads the saved filters.
func (a *app) loadFilters() {
	a.filters = map[string]string{}
	if text := a.memo.Kept(memo.Filters); text != "" {
		if err := json.Unmarshal([]byte(text), &a.filters); err != nil {
			a.Fail("the saved filters cannot be read", err)
		}
	}
	a.listItems()
	a.tree.Load(&a.snap)
}

// saveFilters keeps the saved filters.
func (a *app) saveFilters(done string) tea.Cmd {
	text, err := json.Marshal(a.filters)
	if err != nil {
		a.Fail("cannot save the filters", err)
		return nil
	}
	return a.memo.Keep(memo.Filters, string(text), done)
}

// useFilter applies a saved filter.
func (a *app) useFilter(name string) error {
	text, ok := a.filters[name]
	if !ok {
		return fmt.Errorf("%w: no filter is saved as %q", event.ErrNotFound, name)
	}
	q, err := query.New(a.stream.Query.Node, text, a.Clock())
	if err != nil {
		return err
	}
	a.requery(q)
	a.enter(layout.Stream)
	return nil
}

// filterName is the name under which the present filter is saved, "" if it is not.
func (a *app) filterName() string {
	for _, name := range sortedNames(a.filters) {
		if a.filters[name] == a.stream.Query.Text {
			return name
		}
	}
	return ""
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// filterWords begin the lines of the command that are no name.
var filterWords = []string{"save", "delete", "set", "off", "on"}

func (a *app) runFilter(words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		return a.openFilter(), nil
	}
	rest := strings.Join(words[1:], " ")
	switch words[0] {
	case "save":
		return a.saveFilter(rest)
	case "delete":
		if _, ok := a.filters[rest]; !ok {
			return nil, fmt.Errorf("%w: no filter is saved as %q", event.ErrNotFound, rest)
		}
		delete(a.filters, rest)
		return a.saveFilters("filter " + rest + " is no longer saved"), nil
	case "off", "on":
		if a.stream.Query.Text == "" {
			return nil, errors.New("there is no filter")
		}
		if a.stream.Query.Off != (words[0] == "off") {
			a.toggleFilter()
		}
		return nil, nil
	case "set":
		q, err := query.New(a.stream.Query.Node, rest, a.Clock())
		if err == nil {
			a.requery(q)
		}
		return nil, err
	}
	return nil, a.useFilter(strings.Join(words, " "))
}

func (a *app) saveFilter(name string) (tea.Cmd, error) {
	switch {
	case name == "":
		return nil, fmt.Errorf("%w: filter save NAME", action.ErrUsage)
	case slices.Contains(filterWords, name):
		return nil, fmt.Errorf("%w: %q is a word of the command itself; take another name", action.ErrUsage, name)
	case a.stream.Query.Text == "":
		return nil, errors.New("there is no filter to save")
	}
	a.filters[name] = a.stream.Query.Text
	return a.saveFilters("filter saved as " + name), nil
}

func (a *app) completeFilter(words []string) []string {
	if len(words) > 1 && words[0] == "delete" || len(words) == 1 {
		names := sortedNames(a.filters)
		if len(words) == 1 {
			names = append(names, filterWords...)
		}
		return names
	}
	return nil
}

// scope shows the part of the stream that belongs to a node.
func (a *app) scope(n query.Node) {
	a.tree.Reveal(n)
	a.tree.Load(&a.snap)
	a.tree.At = n
	a.rescope()
	a.enter(layout.Stream)
}

// askLine opens a prompt.
func (a *app) askLine(p *widget.Prompt, text string) {
	p.Field.Set(text)
	a.prompt = p
}

// typing is what belongs to a filter while it is typed.
type typing struct {
	prompt *widget.Prompt
	before query.Query // what esc goes back to
	offers offers      // what tab offers
}

// drawPrompt draws the prompt, which stands on the last ones of h rows.
func (a *app) drawPrompt(h int) []string {
	var c cells.Canvas
	c.Begin(&a.Theme, a.w)
	a.prompt.Draw(&c)
	n := min(max(c.Height(), 2), h)
	a.cursor = cells.Point{X: c.Cursor.X, Y: c.Cursor.Y + h - n}
	return c.Rows(n, nil)
}
