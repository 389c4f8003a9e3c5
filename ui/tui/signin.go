package tui

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/themes"
	"eventdeck/ui/internal/browser"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// signInActions are about the rights to use a server.
func signInActions() []action {
	return grouped("Servers",
		action{id: "sign-in", title: "sign in to the server, in the browser", keys: []string{"L"}, hint: "sign in", panes: inTree, dangerous: true, when: (*app).wantsSignIn, run: func(a *app) tea.Cmd { return a.signIn(a.tree.at.Server) }},
	)
}

// signInCommands are the typed commands of the same.
func signInCommands() []command {
	return []command{
		{name: "sign-in", usage: "SERVER", title: "sign in to a server, in the browser", dangerous: true, run: func(a *app, words []string) (tea.Cmd, error) {
			return a.signIn(strings.Join(words, " ")), nil
		}, complete: completeServer},
		{name: "sign-out", usage: "SERVER", title: "revoke and forget the tokens of a server", dangerous: true, run: func(a *app, words []string) (tea.Cmd, error) {
			name := strings.Join(words, " ")
			return a.ask("signed out of "+cells.Sanitize(name).Plain(), func(ctx context.Context) error { return a.api.SignOut(ctx, name) }), nil
		}, complete: completeServer},
	}
}

func (a *app) wantsSignIn() bool {
	for i := range a.snap.Servers {
		if s := &a.snap.Servers[i]; s.Name == a.tree.at.Server {
			return s.SignIn != ""
		}
	}
	return false
}

// signInDialog shows where the operator signs in, until that is over.
type signInDialog struct {
	app    *app
	server string
	flow   host.SignIn
	says   string // of the browser
	cancel context.CancelFunc
}

// signIn asks the host where to sign in, opens that in the browser and waits.
func (a *app) signIn(server string) tea.Cmd {
	a.Tell("asking " + cells.Sanitize(server).Plain() + " where to sign in")
	return a.Do(func(ctx context.Context) tea.Msg {
		flow, err := a.api.SignIn(ctx, server)
		if err != nil {
			return doneMsg{what: "sign-in", err: err}
		}
		return startSignInMsg{server: server, flow: flow}
	})
}

// startSignInMsg: a sign-in was begun.
type startSignInMsg struct {
	server string
	flow   host.SignIn
}

func (a *app) startSignIn(msg startSignInMsg) tea.Cmd {
	ctx, cancel := context.WithCancel(a.ctx)
	d := &signInDialog{app: a, server: msg.server, flow: msg.flow, cancel: cancel}
	if d.flow.URL != "" {
		a.Show(d)
		d.open()
	}
	return a.Do(func(context.Context) tea.Msg {
		defer cancel()
		err := d.flow.Wait(ctx)
		return widget.Then(func() {
			if a.dialog == widget.Dialog(d) {
				a.Show(nil)
			}
			switch {
			case err == nil:
				a.Tell("signed in to " + cells.Sanitize(d.server).Plain())
			case !errors.Is(err, context.Canceled):
				a.Fail("sign-in", err)
			}
		})
	})
}

// open hands the address to the browser.
func (d *signInDialog) open() {
	a := d.app

	d.says = "The page is open in your browser. This goes on when you come back."
	if err := a.browse(d.flow.URL); errors.Is(err, browser.ErrNone) {
		d.says = "There is no browser here. Open the address; its return must reach this machine."
	} else if err != nil {
		d.says = "The browser: " + err.Error()
	}
}

func (d *signInDialog) Title() string { return "Sign in" }

func (d *signInDialog) Size(sw, _ int) (int, int) {

	w := max(50, min(90, sw-4))
	return w, 6 + len(wrapAddress(d.flow.URL, w-2))
}

func (d *signInDialog) Draw(c *cells.Canvas, h int) {
	line := func(role themes.Role, text string) {
		c.Put(themes.Plain, " ")
		c.Safe(role, cells.Sanitize(text).Clip(c.Room))
		c.End()
	}
	line(themes.Strong, d.server)
	line(themes.Plain, "asked by "+d.flow.Issuer)
	line(themes.Plain, d.says)
	c.End()
	rows := wrapAddress(d.flow.URL, c.Room-2)
	for _, row := range rows[:min(len(rows), max(0, h-5))] {
		line(themes.Dim, row)
	}
}

// wrapAddress cuts an address into rows. It is visible ASCII: the host saw to that.
func wrapAddress(address string, w int) (rows []string) {
	for w = max(w, 10); len(address) > w; address = address[w:] {
		rows = append(rows, address[:w])
	}
	return append(rows, address)
}

func (d *signInDialog) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.app

	switch name {
	case "esc", "q":
		d.cancel()
		a.Show(nil)
		a.Tell("the sign-in was given up")
	case "o", "enter":
		d.open()
	case "c", "y":
		return a.copy("the address", d.flow.URL)
	}
	return nil
}

func (d *signInDialog) Paste(string) tea.Cmd { return nil }
func (d *signInDialog) Hints() []string {
	return []string{"o", "open again", "c", "copy the address", "esc", "give up"}
}
