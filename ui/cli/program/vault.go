package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
)

// keptVault gives commands with a store of their own the tokens of the kept store, which it
// opens for each call.
type keptVault struct {
	a   *App
	ctx context.Context // of the command: the questions of a vault have none to read
	say sync.Once
}

// with opens the kept store, if there is one.
func (v *keptVault) with(ctx context.Context, do func(event.Store) error) error {
	o, err := v.a.Kept()
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.Dir); err != nil {
		return fmt.Errorf("no tokens: %w", event.ErrNotFound)
	}
	s, err := v.a.openHere(ctx, o)
	if err != nil {
		v.say.Do(func() {
			v.a.Say("tokens of earlier sign-ins are out of reach: %s; with --data that process is used", plain.Message(err))
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
