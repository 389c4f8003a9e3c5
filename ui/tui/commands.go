package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/words"
)

// commands is the table of what can be typed.
func commands() []command {
	return append(slices.Concat(subCommands(), signInCommands(), incidentCommands()), []command{
		{name: "sub", usage: "TYPE [name=value…] [mode=M] [server=S] [from=now|saved]", title: "subscribe", dangerous: true, run: runSubscribe, complete: completeSubscribe},
		{name: "filter", usage: "NAME | save NAME | delete NAME | set TEXT | off | on", title: "use a saved filter, save this one, take it away", run: runFilter, complete: completeFilter},
		{name: "export", usage: "[last 1h] FILE [overwrite]", title: "write what is shown or selected", run: runExport, complete: completeExport},
		{name: "goto", usage: "14:05 | 2026-03-14 14:05 | 10m | #SEQ", title: "go to a moment or a record", run: runGoto},
		{name: "server", usage: "NAME", title: "show one server", run: runServer, complete: completeServer},
		{name: "theme", usage: "NAME", title: "change the theme", run: runTheme, complete: completeTheme},
		{name: "time", usage: "local | utc | relative | delta", title: "how times are shown", run: runTime, complete: func(*app, []string) []string { return cells.TimeViewNames[:] }},
		{name: "mark", usage: "[NOTE]", title: "mark the chosen record", run: runMark},
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

func completeSubscribe(a *app, typed []string) []string {
	if len(typed) == 1 {
		return a.typeNames()
	}
	out := []string{"mode=push", "mode=poll", "mode=webhook", "mode=auto", "from=saved"}
	if w, err := a.subscribeWords(typed[:1]); err == nil && w.typ != nil {
		out = append(words.ArgNames(w.typ.InputSchema), out...)
	}
	for _, name := range completeServer(a, nil) {
		out = append(out, "server="+name)
	}
	return out
}

func runGoto(a *app, typed []string) (tea.Cmd, error) {
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

func runServer(a *app, words []string) (tea.Cmd, error) {
	name := strings.Join(words, " ")
	if !slices.Contains(completeServer(a, nil), name) {
		return nil, a.unknownServer(name)
	}
	a.gotoPlace(query.Node{Server: name})
	return nil, nil
}

func completeServer(a *app, _ []string) []string {
	var names []string
	for i := range a.snap.Servers {
		names = append(names, a.snap.Servers[i].Name)
	}
	return names
}

func runTheme(a *app, words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		a.openThemes()
		return nil, nil
	}
	if len(words) > 1 {
		return nil, usage(a.command("theme"))
	}
	return a.useTheme(words[0])
}

func completeTheme(a *app, _ []string) []string {
	var names []string
	for _, t := range a.themes() {
		names = append(names, t.Name)
	}
	return names
}

// useTheme puts on a theme and keeps it.
func (a *app) useTheme(name string) (tea.Cmd, error) {
	for _, t := range a.themes() {
		if t.Name == name {
			a.wear(t)
			a.skin.name = name
			return a.keep(keptTheme, name, "theme "+name), nil
		}
	}
	return nil, fmt.Errorf("there is no theme %q", name)
}

func runTime(a *app, words []string) (tea.Cmd, error) {
	i := slices.Index(cells.TimeViewNames[:], strings.Join(words, " "))
	if i < 0 {
		return nil, usage(a.command("time"))
	}
	a.showTimes(cells.TimeView(i))
	return nil, nil
}

func runMark(a *app, words []string) (tea.Cmd, error) {
	if a.stream.At == 0 {
		return nil, fmt.Errorf("no record is chosen")
	}
	return a.setMark(event.Mark{Seq: a.stream.At, Note: strings.Join(words, " ")}, "marked"), nil
}
