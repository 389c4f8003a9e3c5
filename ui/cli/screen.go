package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"eventdeck/host/event"
)

// screen runs the full-screen program on the configured servers, or on one.
func (a *app) screen(ctx context.Context, args []string) error {
	servers, err := a.servers(args)
	if err != nil {
		return err
	}
	if err := a.needTerminal(); err != nil {
		return err
	}
	if !a.flags.screen.reads { // a screen that only looks starts nothing
		a.flags.reacts = ownReactions
	}
	d, o, err := a.keptDeck(ctx)
	if err != nil {
		return err
	}
	if err := d.named(ctx, servers); err != nil {
		return d.finish(err)
	}
	for _, s := range servers {
		d.AddServer(s)
	}
	words := slices.Clone(args)
	for i := range min(len(servers), len(words)) {
		words[i] = servers[i].Name
	}
	if d.client != nil {
		owned, err := a.showAttached(ctx, d, o, servers)
		if owned != nil {
			a.farewell(*owned, words...)
		}
		return err
	}
	late := &lateDemo{app: a, deck: d, ctx: ctx}
	d.startDemo = late.start
	err = d.whileSound(ctx, func(ctx context.Context) error { return a.show(ctx, d, false) })
	info := d.store.Info()
	err = errors.Join(err, late.leave(), d.close(), late.stop())
	a.farewell(info, words...)
	return err
}

// show runs the screen, or the same in words.
func (a *app) show(ctx context.Context, d *deck, demo bool) error {
	if a.flags.screen.plain {
		return newAnnouncer(d, a.Stdout).run(ctx)
	}
	return a.watched(func() error { return a.Screen(ctx, a.screenOptions(d, demo)) })
}

// showDemoOf runs the screen on the demo of another process, and ends with it.
func (a *app) showDemoOf(ctx context.Context, d *deck) error {
	within, cancel := d.within(ctx)
	defer cancel()
	pid := d.client.PID()
	err := d.finish(a.show(within, d, true))
	if err == nil {
		a.say("process %d goes on", pid)
	}
	return err
}

// watched runs the screen so that the terminal is restored whatever ends the
// program. Without a monitor it runs all the same.
func (a *app) watched(screen func() error) error {
	dir, err := a.paths().DataDir()
	if err != nil || a.WatchTerminal == nil {
		return screen()
	}
	stop, err := a.WatchTerminal(filepath.Join(dir, "crashes"))
	if err != nil {
		return screen()
	}
	return errors.Join(screen(), stop())
}

// needTerminal refuses to start the screen where it cannot be drawn.
func (a *app) needTerminal() error {
	const instead = "use `eventdeck tail SERVER TYPE` to print events as lines, or --plain for the screen in words"
	term, _ := a.Env("TERM")
	switch {
	case a.flags.screen.plain && a.flags.json:
		return usagef("--plain is words; for JSON use `eventdeck tail SERVER TYPE --json`")
	case a.flags.screen.plain:
		return nil
	case !a.StdinTerminal || !a.StdoutTerminal:
		return usagef("the screen needs a terminal, and this is none: %s", instead)
	case term == "dumb":
		return usagef("the screen needs more than a dumb terminal (TERM=dumb): %s", instead)
	}
	return nil
}

// farewell says where the data is and how to go on.
func (a *app) farewell(info event.StoreInfo, words ...string) {
	if info.Temporary {
		a.say("the temporary data was removed; with --data DIR it is kept")
		return
	}
	command := []string{"eventdeck"}
	if a.flags.config != "" {
		command = append(command, "--config", a.flags.config)
	}
	if a.flags.data != "" {
		command = append(command, "--data", info.Path)
	}
	command = append(command, words...)
	for i, w := range command {
		command[i] = quoteWord(w)
	}
	a.say("events are kept in %s; go on with: %s", info.Path, strings.Join(command, " "))
}

// quoteWord quotes a word for a shell where it must be.
func quoteWord(w string) string {
	if w != "" && strings.IndexFunc(w, func(r rune) bool {
		return !strings.ContainsRune("-_./:=@%+,~", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
