package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"eventdeck/host"
)

func (h *fakeHost) SignIn(_ context.Context, server string) (host.SignIn, error) {
	flow := h.flow
	if flow.Wait == nil { // it is over at once
		flow.Wait = func(context.Context) error { return nil }
	}
	return flow, h.note("sign in %s", server)
}

func (h *fakeHost) SignOut(_ context.Context, server string) error {
	return h.note("sign out %s", server)
}

// locked returns a screen on a server that requires a sign-in, with its row chosen.
func locked(t *testing.T, wait func(ctx context.Context) error) (*fakeHost, *app, *[]string) {
	h := incident()
	h.flow = host.SignIn{URL: "https://as.example/authorize?" + strings.Repeat("x", 300), Issuer: "https://as.example", Wait: wait}
	h.snap.Servers[0].SignIn, h.snap.Servers[0].Reach = "the server wants to know who is asking", host.ReachSignIn
	a := open(t, h, 100, 30)
	opened := &[]string{}
	a.choice.Browse = func(address string) error { *opened = append(*opened, address); return nil }
	press(t, a, "1", "g", "j")
	return h, a, opened
}

func TestSignIn(t *testing.T) {
	h, a, opened := locked(t, func(context.Context) error { return nil })
	if text := screenOf(a); !strings.Contains(text, "sign in") {
		t.Errorf("the key is not hinted:\n%s", text)
	}
	press(t, a, "L")
	if !slices.Contains(h.did, "sign in "+h.snap.Servers[0].Name) || len(*opened) != 1 || (*opened)[0] != h.flow.URL {
		t.Errorf("did %q, opened %q", h.did, *opened)
	}
	if a.dialog != nil || !strings.Contains(a.Edges.Status.Note.Text, "signed in to") {
		t.Errorf("dialog %v, note %q", a.dialog, a.Edges.Status.Note.Text)
	}
}

func TestSignInThatFails(t *testing.T) {
	_, a, _ := locked(t, func(context.Context) error { return errors.New("the token endpoint answers HTML") })
	press(t, a, "L")
	if !a.Edges.Status.Note.Bad || !strings.Contains(a.Edges.Status.Note.Text, "answers HTML") {
		t.Errorf("note %q", a.Edges.Status.Note.Text)
	}
	h, a, _ := locked(t, nil)
	h.refuse = host.ErrNoSignIn
	press(t, a, "L")
	if !a.Edges.Status.Note.Bad || a.dialog != nil {
		t.Errorf("note %q", a.Edges.Status.Note.Text)
	}
}

func TestSignOutCommand(t *testing.T) {
	h, a, _ := locked(t, nil)
	if cmd, err := a.actions.Command("sign-out").Run([]string{"pager"}); err != nil {
		t.Fatal(err)
	} else {
		settle(a, cmd)
	}
	if !slices.Contains(h.did, "sign out pager") {
		t.Errorf("did %q", h.did)
	}
}
