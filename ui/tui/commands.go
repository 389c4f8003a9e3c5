package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// commands is the table of what can be typed.
func commands() []command {
	return append(append(subCommands(), signInCommands()...), []command{
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

func runSubscribe(a *app, words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		return nil, usage(a.command("sub"))
	}
	r := host.Request{Mode: event.ModeAuto}
	server, rest := "", []string(nil)
	for _, w := range words[1:] {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fmt.Errorf("%w: %q is no name=value", errUsage, w)
		}
		switch name {
		case "mode":
			if r.Mode = event.Mode(value); !slices.Contains(modeNames, value) {
				return nil, fmt.Errorf("%w: mode is %s", errUsage, strings.Join(modeNames, ", "))
			}
		case "server":
			server = value
		case "from":
			if value != "now" && value != "saved" {
				return nil, fmt.Errorf("%w: from is now or saved", errUsage)
			}
			r.From.Saved = value == "saved"
		default:
			rest = append(rest, w)
		}
	}
	typ, err := a.findType(words[0], &server)
	if err != nil {
		return nil, err
	}
	if err := typedAnew(*typ, rest); err != nil {
		return nil, err
	}
	r.Server, r.Type = server, typ.Name
	if r.Args, err = argsOf(rest, typ.InputSchema); err != nil {
		return nil, err
	}
	return a.Ask("subscribed to "+evidence.RequestName(*typ, r), func(ctx context.Context) error {
		_, err := a.api.Subscribe(ctx, r)
		return err
	}), nil
}

var modeNames = []string{string(event.ModeAuto), string(event.ModePush), string(event.ModePoll), string(event.ModeWebhook)}

// findType finds an event type by its name, on the given server or on the only
// one that lists it.
func (a *app) findType(name string, server *string) (*event.Type, error) {
	var found []string
	var typ *event.Type
	for i := range a.snap.Servers {
		s := &a.snap.Servers[i]
		for j := range s.Types {
			if s.Types[j].Name.Raw() == name && (*server == "" || *server == s.Name) {
				found, typ = append(found, s.Name), &s.Types[j]
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w %q", host.ErrUnknownType, name)
	case 1:
		*server = found[0]
		return typ, nil
	}
	return nil, fmt.Errorf("%w: %s all list it; add server=%s", errUsage, strings.Join(found, ", "), found[0])
}

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

func completeSubscribe(a *app, words []string) []string {
	if len(words) == 1 {
		return a.typeNames()
	}
	server := ""
	out := []string{"mode=push", "mode=poll", "mode=webhook", "mode=auto", "from=saved"}
	if typ, err := a.findType(words[0], &server); err == nil {
		out = append(argNames(typ.InputSchema), out...)
	}
	return out
}

func runGoto(a *app, words []string) (tea.Cmd, error) {
	text := strings.Join(words, " ")
	if number, ok := strings.CutPrefix(text, "#"); ok {
		seq, err := strconv.ParseUint(number, 10, 64)
		if err != nil || seq == 0 || seq > a.api.Log().Last() {
			return nil, fmt.Errorf("there is no record %q; the newest is #%d", text, a.api.Log().Last())
		}
		a.gotoSeq(seq)
		return nil, nil
	}
	t, err := parseMoment(text, a.Clock())
	if err != nil {
		return nil, err
	}
	return nil, a.gotoTime(t)
}

// momentForms are the spellings of a moment; those without a date mean the last
// such time.
var momentForms = []struct {
	form  string
	dated bool
}{
	{"15:04", false}, {"15:04:05", false}, {time.DateTime, true}, {"2006-01-02 15:04", true}, {time.DateOnly, true}, {"2006-01-02T15:04:05", true}, {time.RFC3339, true},
}

// parseMoment reads a moment: a time of day, a date with or without one, or how
// long ago it was. It is one in the zone of now.
func parseMoment(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, f := range momentForms {
		t, err := time.ParseInLocation(f.form, text, now.Location())
		if err != nil {
			continue
		}
		if f.dated {
			return t, nil
		}
		t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
		if t.After(now) {
			t = t.AddDate(0, 0, -1)
		}
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%w: %q is no moment, such as 14:05, 2026-03-14 14:05 or 10m", errUsage, text)
}

func runServer(a *app, words []string) (tea.Cmd, error) {
	name := strings.Join(words, " ")
	if !slices.Contains(completeServer(a, nil), name) {
		return nil, fmt.Errorf("%w %q", host.ErrUnknownServer, name)
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
