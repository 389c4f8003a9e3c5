// Saves views under names: scope, filter, columns, and how two streams share the
// screen. It lists, opens, renames and deletes them.

package filterbar

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// View is a saved view. It has no position in the log: it opens at the newest record.
type View struct {
	persist.Place
	Second  *persist.Second            `json:"second,omitempty"` // nil: there is one stream
	Panes   layout.Arrangement         `json:"panes,omitzero"`
	Columns map[string][]stream.Column `json:"columns,omitempty"` // by scope, where the operator chose them
}

// Views are the saved views.
type Views struct {
	Gen   int // changes with every change of the views
	saved map[string]View
	env   *Env
}

// commandWords are the subcommands of the typed command.
var commandWords = []string{"save", "rename", "delete"}

// NewViews returns an empty collection; Load reads the saved views.
func NewViews(env *Env) Views {
	return Views{saved: map[string]View{}, env: env}
}

// Use opens a view. Errors: [event.ErrNotFound], that its filter cannot be parsed.
func (v *Views) Use(name string) (tea.Cmd, error) {
	view, err := v.Get(name)
	if err != nil {
		if names := v.Names(); len(names) > 0 {
			return nil, fmt.Errorf("%w; there are %s", err, strings.Join(names, ", "))
		}
		return nil, fmt.Errorf("%w; %s and then a name saves what is shown", err, v.env.KeyOf("views"))
	}
	places := []persist.Place{view.Place}
	if view.Second != nil {
		places = append(places, view.Second.Place)
	}
	for _, p := range places {
		if _, err := query.New(query.Node{}, p.Filter, v.env.Clock()); err != nil {
			return nil, fmt.Errorf("the filter %q of the view %s: %w", p.Filter, name, err)
		}
	}
	return v.env.OpenView(view), nil
}

// Run runs the typed command. Errors: those of [Views.Use], [Views.Rename] and [Views.Delete].
func (v *Views) Run(typed []string) (tea.Cmd, error) {
	if len(typed) == 0 {
		v.List()
		return nil, nil
	}
	rest := strings.Join(typed[1:], " ")
	switch typed[0] {
	case "save":
		return v.saveCurrent(rest)
	case "delete":
		return v.Delete(rest)
	case "rename":
		return v.rename(typed[1:])
	}
	return v.Use(strings.Join(typed, " "))
}

// rename renames a view. Names may have spaces: the old name is the longest prefix of the words that
// is a name.
func (v *Views) rename(typed []string) (tea.Cmd, error) {
	for n := len(typed) - 1; n > 0; n-- {
		if from := strings.Join(typed[:n], " "); v.has(from) {
			return v.Rename(from, strings.Join(typed[n:], " "))
		}
	}
	if len(typed) < 2 {
		return nil, fmt.Errorf("%w: view rename NAME NEW", evidence.ErrUsage)
	}
	return v.Rename(typed[0], strings.Join(typed[1:], " "))
}

func (v *Views) has(name string) bool {
	_, err := v.Get(name)
	return err == nil
}

// AskSave asks for a name for the current view.
func (v *Views) AskSave() {
	v.ask("save the view as:", "", v.saveCurrent)
}

// AskRename asks for a new name of a view.
func (v *Views) AskRename(name string) {
	v.ask("new name of "+name+":", name, func(to string) (tea.Cmd, error) { return v.Rename(name, to) })
}

func (v *Views) ask(label, text string, done func(string) (tea.Cmd, error)) {
	v.env.AskLine(&widget.Prompt{Label: label, Says: "enter keeps the name  esc goes back", Done: func(name string) tea.Cmd {
		return v.report(done(strings.TrimSpace(name)))
	}}, text)
}

// report shows an error, if there is one.
func (v *Views) report(cmd tea.Cmd, err error) tea.Cmd {
	if err != nil {
		v.env.Tell(err.Error())
	}
	return cmd
}

// Complete returns the candidates for the last word of the command.
func (v *Views) Complete(typed []string) []string {
	if len(typed) == 1 {
		return append(v.Names(), commandWords...)
	}
	if len(typed) == 2 && (typed[0] == "delete" || typed[0] == "rename") {
		return v.Names()
	}
	return nil
}

// Words describes the view of a name in one line.
func (v *Views) Words(name string) trust.Rendered {
	view, err := v.Get(name)
	if err != nil {
		return trust.Rendered{}
	}
	text := v.placeWords(&view.Place)
	if view.Second == nil {
		return text
	}
	second := v.placeWords(&view.Second.Place)
	if view.Second.First {
		text, second = second, text
	}
	sign := "  |  "
	if view.Second.Way == layout.Under {
		sign = "  over  "
	}
	return cells.Join(text, cells.Sanitize(sign), second)
}

func (v *Views) placeWords(p *persist.Place) trust.Rendered {
	text := stream.PlaceWords(p.Node.Node(), v.env.Glyphs)
	if p.Filter == "" {
		return text
	}
	word := " /"
	if p.Off {
		word = " (off) /"
	}
	return cells.Join(text, cells.Sanitize(word+p.Filter))
}

// Actions returns the actions that open and save views.
func (v *Views) Actions() []palette.Action {
	return palette.Grouped("Panes",
		palette.Action{ID: "views", Title: "views: open, save what is shown, rename", Also: "named layout perspective workspace session", Keys: []string{"p"}, Panes: onMain, Run: palette.Act(v.List)},
		palette.Action{ID: "view.save", Title: "save what is shown as a view", Also: "keep remember layout workspace", Panes: onMain, Run: palette.Act(v.AskSave)},
	)
}

var onMain = []layout.Pane{layout.Tree, layout.Stream, layout.Detail}
