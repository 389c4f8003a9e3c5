package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
)

// commandRows returns the typed commands.
func (a *app) commandRows() []palette.ActionCommand {
	return append(slices.Concat(a.subCommands(), a.signInCommands(), a.incidentCommands(), a.reactCommands()), []palette.ActionCommand{
		{Name: "sub", Usage: "TYPE [name=value…] [mode=M] [server=S] [from=now|saved]", Title: "subscribe", Dangerous: true, Run: a.runSubscribe, Complete: func(words []string) []string { return form.CompleteLine(&a.snap, words) }},
		{Name: "filter", Usage: "set TEXT | off | on", Title: "set the filter, turn it off and on", Also: "search find only", Run: a.filters.Run, Complete: a.filters.Complete},
		{Name: "view", Usage: "NAME | save NAME | rename NAME NEW | delete NAME", Title: "open a saved view, save what is shown as one", Run: a.views.Run, Complete: a.views.Complete},
		{Name: "export", Usage: "[last 1h] FILE [overwrite]", Title: "write what is shown or selected", Run: a.runExport, Complete: a.completeExport},
		{Name: "goto", Usage: "14:05 | 2026-03-14 14:05 | 10m | #SEQ", Title: "go to a moment or a record", Also: "jump time seek at", Run: a.runGoto},
		{Name: "server", Usage: "NAME", Title: "show one server", Run: a.onNamedServer(func(name string) tea.Cmd { a.gotoPlace(query.Node{Server: name}); return nil }), Complete: a.completeServer},
		{Name: "theme", Usage: "NAME", Title: "change the theme", Run: a.runTheme, Complete: func([]string) []string { return a.theming.Names() }},
		{Name: "time", Usage: "local | utc | relative | delta", Title: "how times are shown", Run: a.runTime, Complete: func([]string) []string { return cells.TimeViewNames[:] }},
		{Name: "mark", Usage: "[NOTE]", Title: "mark the chosen record", Run: a.runMark},
	}...)
}

func (a *app) runSubscribe(words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		return nil, palette.ErrUsage
	}
	return form.OpenLine(a.formEnv(), &a.snap, words)
}

// memorable returns a typed line for the history, without secrets; "" if it does not belong there.
func (a *app) memorable(line string) string { return form.LineForHistory(&a.snap, "sub", line) }

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

func (a *app) runTheme(words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		a.theming.Open()
		return nil, nil
	}
	if len(words) > 1 {
		return nil, palette.ErrUsage
	}
	return a.theming.Use(words[0])
}

func (a *app) runTime(words []string) (tea.Cmd, error) {
	i := slices.Index(cells.TimeViewNames[:], strings.Join(words, " "))
	if i < 0 {
		return nil, palette.ErrUsage
	}
	a.showTimes(cells.TimeView(i))
	return nil, nil
}

func (a *app) runMark(words []string) (tea.Cmd, error) {
	if a.stream.At == 0 {
		return nil, fmt.Errorf("no record is chosen")
	}
	if len(words) == 0 {
		return a.markChosen(), nil
	}
	return a.setMark(event.Mark{Seq: a.stream.At, Note: strings.Join(words, " ")}, "marked"), nil
}
