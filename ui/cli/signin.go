package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
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
		Args:              plain.ExactArgs(1),
		ValidArgsFunction: a.CompleteServer,
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
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
		Args:              plain.ExactArgs(1),
		ValidArgsFunction: a.CompleteServer,
		Run:               a.Run(func(cmd *cobra.Command, args []string) error { return a.signOut(cmd.Context(), args) }),
	}
}

// withKept calls do with a host on the kept store, to which the named server was added.
func (a *app) withKept(ctx context.Context, args []string, do func(ctx context.Context, d *program.OpenHost, server string) error) (err error) {
	s, err := a.FindServer(ctx, args[0])
	if err != nil {
		return err
	}
	servers := []event.Server{s}
	d, _, err := a.OpenKeptHost(ctx, false)
	if err != nil {
		return err
	}
	ctx, cancel := d.Within(ctx)
	defer cancel()
	defer func() { err = d.Leave(err) }()
	if err := d.Named(ctx, servers); err != nil {
		return err
	}
	d.AddServer(servers[0])
	return do(ctx, d, servers[0].Name)
}

func (a *app) signIn(ctx context.Context, args []string, noBrowser bool) error {
	return a.withKept(ctx, args, func(ctx context.Context, d *program.OpenHost, server string) error {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		s, err := d.SignIn(limited, server)
		if err != nil {
			return program.Stopped(ctx, err)
		}
		if s.URL != "" {
			a.Say("%s asks you to sign in. Open:\n%s", plain.Safe(s.Issuer), plain.Safe(s.URL))
			if !noBrowser && a.Browse != nil {
				if err := a.Browse(s.URL); err != nil {
					a.Say("%v: open the address yourself", err)
				}
			}
		}
		if err := s.Wait(ctx); err != nil {
			return program.Stopped(ctx, err)
		}
		a.Say("signed in to %s", plain.Safe(server))
		return nil
	})
}

func (a *app) signOut(ctx context.Context, args []string) error {
	return a.withKept(ctx, args, func(ctx context.Context, d *program.OpenHost, server string) error {
		if err := d.SignOut(ctx, server); err != nil {
			return program.Stopped(ctx, err)
		}
		a.Say("signed out of %s", plain.Safe(server))
		return nil
	})
}

// Browse opens an address in the operator's browser.
func Browse(address string) error { return browser.Open(address) }
