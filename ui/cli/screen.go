package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// screen runs the full-screen program on the configured servers, or on one.
func (a *app) screen(ctx context.Context, args []string) error {
	servers, err := a.Servers(args)
	if err != nil {
		return err
	}
	if err := a.needTerminal(); err != nil {
		return err
	}
	if !a.Flags.Screen.ReadOnly { // a screen that only looks starts nothing
		a.Flags.Reacts = program.OwnReactions
	}
	d, o, err := a.OpenKeptHost(ctx, true)
	if err != nil {
		return err
	}
	if err := d.Named(ctx, servers); err != nil {
		return d.Finish(err)
	}
	for _, s := range servers {
		d.AddServer(s)
	}
	words := slices.Clone(args)
	for i := range min(len(servers), len(words)) {
		words[i] = servers[i].Name
	}
	if d.Client != nil {
		owned, err := a.showAttached(ctx, d, o, servers)
		if owned != nil {
			a.sayWhereKept(*owned, words...)
		}
		return err
	}
	late := &screenDemo{app: a, opened: d, ctx: ctx}
	d.StartDemo = late.start
	err = d.WhileSound(ctx, func(ctx context.Context) error { return a.show(ctx, d, false) })
	info, waiting := d.Store.Info(), d.Waiting()
	err = errors.Join(err, late.leave(), d.Close(), late.stop())
	a.sayWhereKept(info, words...)
	a.sayWaiting(waiting)
	return err
}

// show runs the screen, or with --plain the screen in words.
func (a *app) show(ctx context.Context, d *program.OpenHost, demo bool) error {
	if a.Flags.Screen.Plain {
		return newAnnouncer(d, a.Stdout).run(ctx)
	}
	return a.watched(func() error { return a.Screen(ctx, a.screenOptions(d, demo)) })
}

// showDemoOf runs the screen on the demo of another process, and ends with it.
func (a *app) showDemoOf(ctx context.Context, d *program.OpenHost) error {
	within, cancel := d.Within(ctx)
	defer cancel()
	pid := d.Client.PID()
	err := d.Finish(a.show(within, d, true))
	if err == nil {
		a.Say("process %d goes on", pid)
	}
	return err
}

// watched runs the screen so that the terminal is restored whatever ends the program. If the
// monitor cannot start, the screen runs without it.
func (a *app) watched(screen func() error) error {
	dir, err := a.Paths().DataDir()
	if err != nil || a.WatchTerminal == nil {
		return screen()
	}
	stop, err := a.WatchTerminal(filepath.Join(dir, "crashes"))
	if err != nil {
		return screen()
	}
	return errors.Join(screen(), stop())
}

// needTerminal refuses to start the screen on a terminal that cannot show it.
func (a *app) needTerminal() error {
	const instead = "use `eventdeck tail SERVER TYPE` to print events as lines, or --plain for the screen in words"
	term, _ := a.Env("TERM")
	switch {
	case a.Flags.Screen.Plain && a.Flags.JSON:
		return plain.UsageErrorf("--plain is words; for JSON use `eventdeck tail SERVER TYPE --json`")
	case a.Flags.Screen.Plain:
		return nil
	case !a.StdinTerminal || !a.StdoutTerminal:
		return plain.UsageErrorf("the screen needs a terminal, and this is none: %s", instead)
	case term == "dumb":
		return plain.UsageErrorf("the screen needs more than a dumb terminal (TERM=dumb): %s", instead)
	}
	return nil
}

// sayWaiting says how many runs still wait when the program ends.
func (a *app) sayWaiting(runs int) {
	switch {
	case runs == 1:
		a.Say("1 run waits for you and stays stored until it expires: eventdeck runs list --state asking")
	case runs > 1:
		a.Say("%d runs wait for you and stay stored until they expire: eventdeck runs list --state asking", runs)
	}
}

// sayWhereKept says where the data is and how to go on.
func (a *app) sayWhereKept(info event.StoreInfo, words ...string) {
	if info.Temporary {
		a.Say("the temporary data was removed; with --data DIR it is kept")
		return
	}
	command := []string{"eventdeck"}
	if a.Flags.Config != "" {
		command = append(command, "--config", a.Flags.Config)
	}
	if a.Flags.Data != "" {
		command = append(command, "--data", info.Path)
	}
	command = append(command, words...)
	for i, w := range command {
		command[i] = quoteWord(w)
	}
	a.Say("events are kept in %s; go on with: %s", info.Path, strings.Join(command, " "))
}

// quoteWord quotes a word for a shell if necessary.
func quoteWord(w string) string {
	if w != "" && strings.IndexFunc(w, func(r rune) bool {
		return !strings.ContainsRune("-_./:=@%+,~", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// showAttached runs the screen on the host of another process, and goes on when that
// ends.
func (a *app) showAttached(ctx context.Context, d *program.OpenHost, o program.StoreOptions, servers []event.Server) (owned *event.StoreInfo, err error) {
	return a.WhileAttached(ctx, d, o, servers, func(ctx context.Context, d *program.OpenHost) error { return a.show(ctx, d, false) })
}
