package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/words"
)

// commandRows is the table of what can be typed.
func (a *app) commandRows() []action.Command {
	return append(slices.Concat(a.subCommands(), a.signInCommands(), a.incidentCommands()), []action.Command{
		{Name: "sub", Usage: "TYPE [name=value…] [mode=M] [server=S] [from=now|saved]", Title: "subscribe", Dangerous: true, Run: a.runSubscribe, Complete: a.completeSubscribe},
		{Name: "filter", Usage: "NAME | save NAME | delete NAME | set TEXT | off | on", Title: "use a saved filter, save this one, take it away", Run: a.runFilter, Complete: a.completeFilter},
		{Name: "export", Usage: "[last 1h] FILE [overwrite]", Title: "write what is shown or selected", Run: a.runExport, Complete: a.completeExport},
		{Name: "goto", Usage: "14:05 | 2026-03-14 14:05 | 10m | #SEQ", Title: "go to a moment or a record", Run: a.runGoto},
		{Name: "server", Usage: "NAME", Title: "show one server", Run: a.runServer, Complete: a.completeServer},
		{Name: "theme", Usage: "NAME", Title: "change the theme", Run: a.runTheme, Complete: func([]string) []string { return a.skin.Names() }},
		{Name: "time", Usage: "local | utc | relative | delta", Title: "how times are shown", Run: a.runTime, Complete: func([]string) []string { return cells.TimeViewNames[:] }},
		{Name: "mark", Usage: "[NOTE]", Title: "mark the chosen record", Run: a.runMark},
	}...)
}

var modeNames = []string{string(event.ModeAuto), string(event.ModePush), string(event.ModePoll), string(event.ModeWebhook)}

// typeNames lists the names of all event types that can be typed.
func (a *app) typeNames() []string {
	var names []string
	for i := range a.snap.Servers {
		for j := range a.snap.Servers[i].Types {
			name := a.snap.Servers[i].Types[j].Name
			if plain := trust.Line(name).Plain(); plain == name.Raw() && !slices.Contains(names, plain) {
				names = append(names, plain)
			}
		}
	}
	return names
}

func (a *app) completeSubscribe(typed []string) []string {
	if len(typed) == 1 {
		return a.typeNames()
	}
	out := []string{"mode=push", "mode=poll", "mode=webhook", "mode=auto", "from=saved"}
	if w, err := a.subscribeWords(typed[:1]); err == nil && w.typ != nil {
		out = append(words.ArgNames(w.typ.InputSchema), out...)
	}
	for _, name := range a.completeServer(nil) {
		out = append(out, "server="+name)
	}
	return out
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
	t, err := words.Moment(text, a.Clock())
	if err != nil {
		return nil, err
	}
	return a.gotoTime(t), nil
}

func (a *app) runServer(words []string) (tea.Cmd, error) {
	name := strings.Join(words, " ")
	if !slices.Contains(a.completeServer(nil), name) {
		return nil, a.unknownServer(name)
	}
	a.gotoPlace(query.Node{Server: name})
	return nil, nil
}

func (a *app) completeServer(_ []string) []string {
	var names []string
	for i := range a.snap.Servers {
		names = append(names, a.snap.Servers[i].Name)
	}
	return names
}

func (a *app) runTheme(words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		a.skin.Open()
		return nil, nil
	}
	if len(words) > 1 {
		return nil, a.actions.Usage("theme")
	}
	return a.skin.Use(words[0])
}

func (a *app) runTime(words []string) (tea.Cmd, error) {
	i := slices.Index(cells.TimeViewNames[:], strings.Join(words, " "))
	if i < 0 {
		return nil, a.actions.Usage("time")
	}
	a.showTimes(cells.TimeView(i))
	return nil, nil
}

func (a *app) runMark(words []string) (tea.Cmd, error) {
	if a.stream.At == 0 {
		return nil, fmt.Errorf("no record is chosen")
	}
	return a.setMark(event.Mark{Seq: a.stream.At, Note: strings.Join(words, " ")}, "marked"), nil
}
