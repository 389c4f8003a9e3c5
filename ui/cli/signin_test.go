package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/cli/program"
)

func TestSignIn(t *testing.T) {
	b := newBench(t)
	waited := 0
	b.signInFlow = host.SignIn{URL: "https://as.example/authorize?state=1", Issuer: "https://as.\u202eexample", Wait: func(context.Context) error { waited++; return nil }}
	var opened []string
	b.p.Browse = func(address string) error { opened = append(opened, address); return nil }
	b.expect(t, exitDone, "signed in to pager", "sign-in", "pager")
	if waited != 1 || len(opened) != 1 || opened[0] != b.signInFlow.URL {
		t.Errorf("waited %d times, opened %q", waited, opened)
	}
	if says := b.err.String(); !strings.Contains(says, b.signInFlow.URL) || strings.Contains(says, "\u202e") {
		t.Errorf("says %q", says)
	}
	if o := b.opened[0]; o.Temporary || !strings.Contains(o.Dir, "eventdeck") {
		t.Errorf("the tokens go to %+v", o)
	}

	b.p.Browse = func(string) error { return errors.New("no browser here") }
	b.expect(t, exitDone, "open the address yourself", "sign-in", "pager")
	b.p.Browse = func(string) error { t.Error("a browser was opened"); return nil }
	b.expect(t, exitDone, "https://as.example", "sign-in", "pager", "--no-browser")

}

func TestSignInThatFails(t *testing.T) {
	b := newBench(t) // client credentials: there is nothing to open
	b.signInFlow.Wait = func(context.Context) error { return errors.New("token endpoint answers HTML") }
	b.expect(t, exitError, "answers HTML", "sign-in", "pager")
	b = newBench(t)
	b.signInErr = fmt.Errorf("chat: %w", host.ErrNoSignIn)
	b.expect(t, exitError, "no way to sign in", "sign-in", "chat")
	b = newBench(t)
	b.expect(t, exitUsage, "usage: eventdeck sign-in SERVER", "sign-in")
}

func TestSignOut(t *testing.T) {
	b := newBench(t)
	b.expect(t, exitDone, "signed out of pager", "sign-out", "pager")
	b = newBench(t)
	b.signOutErr = errors.New("store is gone")
	b.expect(t, exitError, "store is gone", "sign-out", "pager")
}

func TestServerThatWantsASignInNamesTheCommand(t *testing.T) {
	b := newBench(t)
	b.connect = func(context.Context, string) error { return fmt.Errorf("%w: %w", host.ErrRefused, host.ErrSignIn) }
	b.expect(t, exitRefused, "`eventdeck sign-in pager`", "types", "pager")
}

// A refusal at the first connection names the next step, as one that comes later does.
func TestRefusalAtTheFirstConnectionNamesTheNextStep(t *testing.T) {
	const step = "HTTP 401; who is asking: `eventdeck sign-in pager`, or give a token with --header or in servers.json"
	for name, refuse := range map[string]func(*bench, error){
		"connect":   func(b *bench, err error) { b.connect = func(context.Context, string) error { return err } },
		"list":      func(b *bench, err error) { b.list = func(context.Context) error { return err } },
		"subscribe": func(b *bench, err error) { b.subscribe = func(context.Context, host.Request) error { return err } },
	} {
		commands := [][]string{{"tail", "pager", "incident.created", "--arg", "a=1"}, {"types", "pager"}}
		if name == "subscribe" {
			commands = [][]string{{"tail", "pager", "incident.created"}}
		}
		for _, command := range commands {
			b := newBench(t)
			b.standIn.types = []event.Type{incident}
			b.standIn.view(host.ServerView{Name: "pager", Address: "https://pager.example/mcp", SignIn: "who is asking"})
			refuse(b, fmt.Errorf("%w: server/discover: HTTP 401", host.ErrRefused))
			b.expect(t, exitRefused, step, command...)
		}
	}
}

// A server that refuses for want of a sign-in of its own wants none of ours.
func TestRefusalThatASignInDoesNotMendAdvisesNone(t *testing.T) {
	b := newBench(t)
	b.standIn.view(host.ServerView{Name: "pager", Address: "https://pager.example/mcp"})
	b.standIn.subscribe = func(context.Context, host.Request) error {
		return fmt.Errorf("%w: server answered Forbidden (-32024): the bot is not signed in to the chat", host.ErrRefused)
	}
	b.expect(t, exitRefused, "not signed in to the chat; if it asks for a token of yours", "tail", "pager", "incident.created")
	if strings.Contains(b.err.String(), "eventdeck sign-in") {
		t.Errorf("it advises a sign-in: %s", b.err.String())
	}
}

// tokens is a store that holds one credential.
type tokens struct {
	event.Store
	closed int
	set    event.Secret
}

func (s *tokens) Credential(name string) (event.Secret, error) {
	return event.NewSecret("token of " + name), nil
}

func (s *tokens) SetCredential(_ context.Context, _ string, v event.Secret) error {
	s.set = v
	return nil
}

func (s *tokens) Close() error { s.closed++; return nil }

func TestCommandsWithATemporaryStoreUseKeptTokens(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(b.p.Home, ".local", "state", "eventdeck")
	kept, temporary := &tokens{}, b.p.OpenStore
	var inUse error
	b.p.OpenStore = func(ctx context.Context, o program.StoreOptions) (event.Store, error) {
		if o.Temporary {
			return temporary(ctx, o)
		}
		if o.Dir != dir {
			t.Errorf("opens %+v", o)
		}
		if inUse != nil {
			return nil, inUse
		}
		return kept, nil
	}
	b.run(t, "types", "pager")
	vault := b.options.Vault
	if vault == nil || !b.opened[len(b.opened)-1].Temporary {
		t.Fatal("the command has no tokens")
	}
	if _, err := vault.Credential("x"); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("nothing was ever kept: %v", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := vault.Credential("x"); err != nil || s.Reveal() != "token of x" {
		t.Errorf("%v, %v", s, err)
	}
	if err := vault.SetCredential(context.Background(), "x", event.NewSecret("renewed")); err != nil || kept.set.Reveal() != "renewed" || kept.closed != 2 {
		t.Errorf("%v, kept %v, closed %d times", err, kept.set, kept.closed)
	}
	inUse = errors.New("in use by process 7")
	for range 2 {
		if _, err := vault.Credential("x"); err == nil {
			t.Error("no error")
		}
	}
	if n := strings.Count(b.err.String(), "in use by process 7"); n != 1 {
		t.Errorf("said %d times", n)
	}
}
