package form_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/ui/internal/browser"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/widget"
)

// signingIn is a host with one sign-in.
type signingIn struct {
	form.Host
	flow host.SignIn
}

func (h signingIn) SignIn(context.Context, string) (host.SignIn, error) { return h.flow, nil }

func TestSignInShowsTheAddressUntilItEnds(t *testing.T) {
	d := newFixture(t)
	ended := false
	flow := host.SignIn{URL: "https://as.example/authorize?xxx", Issuer: "https://as.example", Wait: func(ctx context.Context) error {
		ended = ctx.Err() != nil
		return ctx.Err()
	}}
	d.env.Host = signingIn{flow: flow}
	opened, fails := "", error(browser.ErrNone)
	d.env.Browse = func(address string) error { opened = address; return fails }
	cmds := form.OpenSignIn(&d.env, "pager")().(widget.Then)()().(tea.BatchMsg) // to open the page, and to wait
	d.Exec(cmds[0])
	if d.Dialog == nil || opened != flow.URL {
		t.Fatalf("%v is shown, opened %q", d.Dialog, opened)
	}
	for _, want := range []string{"asked by https://as.example", "There is no browser here", flow.URL} {
		d.shows(t, want)
	}
	fails = errors.New("cannot start")
	d.Press("o")
	d.shows(t, "cannot start")
	d.Press("esc")
	d.Exec(cmds[1])
	if d.Dialog != nil || !ended || !strings.Contains(d.Told, "given up") {
		t.Errorf("esc does not give up: %v is shown, told %q", d.Dialog, d.Told)
	}
}
