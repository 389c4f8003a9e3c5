package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
)

// commandRows returns the typed commands.
func (a *app) commandRows() []palette.ActionCommand {
	return append(slices.Concat(a.choice.Commands(), a.trace.Commands(), a.react.Commands()), []palette.ActionCommand{
		a.choice.SubscribeCommand(),
		{Name: "filter", Usage: "set TEXT | off | on", Title: "set the filter, turn it off and on", Also: "search find only", Run: a.filters.Run, Complete: a.filters.Complete},
		{Name: "view", Usage: "NAME | save NAME | rename NAME NEW | delete NAME", Title: "open a saved view, save what is shown as one", Run: a.views.Run, Complete: a.views.Complete},
		a.Outside.Command(),
		{Name: "goto", Usage: "14:05 | 2026-03-14 14:05 | 10m | #SEQ", Title: "go to a moment or a record", Also: "jump time seek at", Run: a.runGoto},
		{Name: "server", Usage: "NAME", Title: "show one server", Run: a.choice.OnServerNamed(func(name string) tea.Cmd { a.gotoPlace(query.Node{Server: name}); return nil }), Complete: a.choice.CompleteServer},
		{Name: "theme", Usage: "NAME", Title: "change the theme", Run: a.theming.Run, Complete: func([]string) []string { return a.theming.Names() }},
		{Name: "time", Usage: "local | utc | relative | delta", Title: "how times are shown", Run: a.runTime, Complete: func([]string) []string { return cells.TimeViewNames[:] }},
		a.marks.Command(),
	}...)
}

func (a *app) runGoto(typed []string) (tea.Cmd, error) {
	text := strings.Join(typed, " ")
	if number, ok := strings.CutPrefix(text, "#"); ok {
		seq, err := strconv.ParseUint(number, 10, 64)
		if err != nil || seq == 0 || seq > a.snap.Last {
			return nil, fmt.Errorf("there is no record %q; the newest is #%d", text, a.snap.Last)
		}
		a.gotoSeq(seq)
		return nil, nil
	}
	t, err := evidence.Moment(text, a.Clock())
	if err != nil {
		return nil, err
	}
	return a.gotoTime(t), nil
}

func (a *app) runTime(words []string) (tea.Cmd, error) {
	i := slices.Index(cells.TimeViewNames[:], strings.Join(words, " "))
	if i < 0 {
		return nil, palette.ErrUsage
	}
	a.showTimes(cells.TimeView(i))
	return nil, nil
}
