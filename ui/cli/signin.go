package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/event"
	"eventdeck/ui/internal/browser"
)

func (a *app) signInCommand() *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "sign-in SERVER",
		Short: "Sign in to a server (OAuth) in the browser",
		Long: `Opens the page on which SERVER wants you to sign in, waits until you come back, and keeps the tokens sealed.
The address is printed too. Where the browser is on another machine, let its return reach this one: forward the
port (the configuration's oauth.callbackPort fixes it), or open the address at which it ends from here.`,
		Args:              exactly(1),
		ValidArgsFunction: a.completeServer,
		Run: a.run(func(cmd *cobra.Command, args []string) error {
			return a.signIn(cmd.Context(), args, noBrowser)
		}),
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the address")
	return cmd
}

func (a *app) signOutCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "sign-out SERVER",
		Short:             "Revoke and forget the tokens for a server",
		Args:              exactly(1),
		ValidArgsFunction: a.completeServer,
		Run:               a.run(func(cmd *cobra.Command, args []string) error { return a.signOut(cmd.Context(), args) }),
	}
}

// withKept opens the store that is kept, with the server that is named.
func (a *app) withKept(ctx context.Context, args []string, do func(ctx context.Context, d *deck, server string) error) (err error) {
	servers, err := a.servers(args)
	if err != nil {
		return err
	}
	d, _, err := a.keptDeck(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := d.within(ctx)
	defer cancel()
	defer func() { err = d.leave(err) }()
	if err := d.named(ctx, servers); err != nil {
		return err
	}
	d.AddServer(servers[0])
	return do(ctx, d, servers[0].Name)
}

func (a *app) signIn(ctx context.Context, args []string, noBrowser bool) error {
	return a.withKept(ctx, args, func(ctx context.Context, d *deck, server string) error {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		s, err := d.SignIn(limited, server)
		if err != nil {
			return stopped(ctx, err)
		}
		if s.URL != "" {
			a.say("%s asks you to sign in. Open:\n%s", safe(s.Issuer), safe(s.URL))
			if !noBrowser && a.Browse != nil {
				if err := a.Browse(s.URL); err != nil {
					a.say("%v: open the address yourself", err)
				}
			}
		}
		if err := s.Wait(ctx); err != nil {
			return stopped(ctx, err)
		}
		a.say("signed in to %s", safe(server))
		return nil
	})
}

func (a *app) signOut(ctx context.Context, args []string) error {
	return a.withKept(ctx, args, func(ctx context.Context, d *deck, server string) error {
		if err := d.SignOut(ctx, server); err != nil {
			return stopped(ctx, err)
		}
		a.say("signed out of %s", safe(server))
		return nil
	})
}

// Browse opens an address in the operator's browser.
func Browse(address string) error { return browser.Open(address) }

// keptVault gives commands with a store of their own the tokens of the store
// that is kept, which is opened for each question.
type keptVault struct {
	a   *app
	ctx context.Context // of the command: the questions of a vault have none to read
	say sync.Once
}

// with opens the store. Where nothing was ever kept there is none.
func (v *keptVault) with(ctx context.Context, do func(event.Store) error) error {
	o, err := v.a.kept()
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.Dir); err != nil {
		return fmt.Errorf("no tokens: %w", event.ErrNotFound)
	}
	s, err := v.a.openAsIs(ctx, o)
	if err != nil {
		v.say.Do(func() {
			v.a.say("tokens of earlier sign-ins are out of reach: %s; with --data that process is used", message(err))
		})
		return err
	}
	return errors.Join(do(s), s.Close())
}

// Credential implements [host.Vault].
func (v *keptVault) Credential(name string) (secret event.Secret, err error) {
	err = v.with(v.ctx, func(s event.Store) error {
		secret, err = s.Credential(name)
		return err
	})
	return secret, err
}

// SetCredential implements [host.Vault].
func (v *keptVault) SetCredential(ctx context.Context, name string, value event.Secret) error {
	return v.with(ctx, func(s event.Store) error { return s.SetCredential(ctx, name, value) })
}
