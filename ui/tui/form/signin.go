package form

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/themes"
	"eventdeck/ui/internal/browser"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// signInDialog shows the address to sign in at, until the sign-in ends.
type signInDialog struct {
	env    *Env
	server string
	flow   host.SignIn
	says   string // whether the browser has opened the address
	cancel context.CancelFunc
}

// OpenSignIn asks the host for the address to sign in at, opens it in the browser and waits for the
// end of the sign-in.
func OpenSignIn(e *Env, server string) tea.Cmd {
	e.Tell("asking " + cells.Sanitize(server).Plain() + " where to sign in")
	return e.Do(func(ctx context.Context) tea.Msg {
		flow, err := e.Host.SignIn(ctx, server)
		if err != nil {
			return widget.Done{What: "sign-in", Err: err}
		}
		ctx, cancel := context.WithCancel(ctx)
		d := &signInDialog{env: e, server: server, flow: flow, cancel: cancel}
		return widget.Then(func() tea.Cmd { return d.begin(ctx) })
	})
}

// begin shows the address, if there is one, and waits for the end of the sign-in.
func (d *signInDialog) begin(ctx context.Context) tea.Cmd {
	e := d.env
	var open tea.Cmd
	if d.flow.URL != "" {
		e.Show(d)
		open = d.open()
	}
	return tea.Batch(open, e.Do(func(context.Context) tea.Msg {
		defer d.cancel()
		err := d.flow.Wait(ctx)
		return widget.Then(func() tea.Cmd {
			if e.Shown() == widget.Dialog(d) {
				e.Show(nil)
			}
			switch {
			case err == nil:
				e.Tell("signed in to " + cells.Sanitize(d.server).Plain())
			case !errors.Is(err, context.Canceled):
				e.Fail("sign-in", err)
			}
			return nil
		})
	}))
}

// open opens the address in the browser.
func (d *signInDialog) open() tea.Cmd {
	d.says = "The page is open in your browser. This goes on when you come back."
	return d.env.Do(func(context.Context) tea.Msg {
		err := d.env.Browse(d.flow.URL)
		return widget.Then(func() tea.Cmd {
			if errors.Is(err, browser.ErrNone) {
				d.says = "There is no browser here. Open the address; its return must reach this machine."
			} else if err != nil {
				d.says = "The browser: " + err.Error()
			}
			return nil
		})
	})
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
	line(themes.Busy, d.env.Turning()+" "+d.says)
	c.End()
	rows := wrapAddress(d.flow.URL, c.Room-2)
	for _, row := range rows[:min(len(rows), max(0, h-5))] {
		line(themes.Dim, row)
	}
}

// wrapAddress cuts an address into rows of w cells. The host guarantees that it is visible ASCII.
func wrapAddress(address string, w int) (rows []string) {
	for w = max(w, 10); len(address) > w; address = address[w:] {
		rows = append(rows, address[:w])
	}
	return append(rows, address)
}

func (d *signInDialog) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch name {
	case "esc", "q":
		d.cancel()
		d.env.Show(nil)
		d.env.Tell("the sign-in was given up")
	case "o", "enter":
		return d.open()
	case "c", "y":
		return d.env.Copy("the address", d.flow.URL)
	}
	return nil
}

func (d *signInDialog) Busy() bool { return true }

func (d *signInDialog) Hints() []string {
	return []string{"o", "open again", "c", "copy the address", "esc", "give up"}
}
