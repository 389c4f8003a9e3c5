package store

import (
	"context"
	"fmt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

// credentialPrefix begins the keys of sealed values among the settings.
const credentialPrefix = "credential/"

func credentialPlace(name string) string { return "settings/" + credentialPrefix + name }

// Credential implements [event.Store].
//
// Errors: [event.ErrNotFound], [event.ErrKeyLocked].
func (s *Store) Credential(name string) (event.Secret, error) {
	var sealed []byte
	err := s.view(func(tx *boltfile.Tx) error {
		value, err := tx.Bucket(tables.Settings).Get([]byte(credentialPrefix + name))
		sealed = append(sealed, value...)
		return err
	})
	if err != nil {
		return event.Secret{}, err
	}
	if len(sealed) == 0 {
		return event.Secret{}, fmt.Errorf("credential %q: %w", name, event.ErrNotFound)
	}
	sealer, err := s.sealer()
	if err != nil {
		return event.Secret{}, err
	}
	plain, err := sealer.Open(credentialPlace(name), sealed)
	if err != nil {
		return event.Secret{}, fmt.Errorf("credential %q: %w: %w", name, event.ErrNotFound, err)
	}
	return event.NewSecret(plain), nil
}

// SetCredential implements [event.Store]. It returns after the commit; the errors
// are those of [Store.SetSetting], and [event.ErrKeyLocked].
func (s *Store) SetCredential(ctx context.Context, name string, value event.Secret) error {
	if value.IsZero() {
		return s.do(ctx, func(c *commit) error { return c.tx.Bucket(tables.Settings).Delete([]byte(credentialPrefix + name)) })
	}
	sealer, err := s.sealer()
	if err != nil {
		return err
	}
	sealed, err := sealer.Seal(credentialPlace(name), value.Reveal())
	if err != nil {
		return fmt.Errorf("credential %q: %w", name, err)
	}
	return s.put(ctx, tables.Settings, credentialPrefix+name, sealed)
}
