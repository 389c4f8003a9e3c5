package seal

import (
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"
)

// Errors that a [Keyring] reports besides its own.
var (
	// ErrNoKeyring: there is no keyring service on this system.
	ErrNoKeyring = errors.New("no keyring service")
	// ErrNoKey: the keyring works and has no such entry.
	ErrNoKey = errors.New("no such entry in the keyring")
)

// Keyring keeps small secrets outside of the store. Calls may take any time, because a person
// may be asked: a [Keeper] gives up waiting.
type Keyring interface {
	// Get returns a secret. Errors: ErrNoKeyring, ErrNoKey, others.
	Get(service, account string) (string, error)
	// Set keeps a secret. Errors: ErrNoKeyring, others.
	Set(service, account, secret string) error
}

// SystemKeyring returns the keyring of the user's session.
func SystemKeyring() Keyring { return systemKeyring{} }

type systemKeyring struct{}

func (systemKeyring) Get(service, account string) (string, error) {
	secret, err := keyring.Get(service, account)
	return secret, keyringError(err)
}

func (systemKeyring) Set(service, account, secret string) error {
	return keyringError(keyring.Set(service, account, secret))
}

func keyringError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return fmt.Errorf("%w: %w", ErrNoKey, err)
	case errors.Is(err, keyring.ErrUnsupportedPlatform) || noService(err):
		return fmt.Errorf("%w: %w", ErrNoKeyring, err)
	}
	return err
}

// NoKeyring returns a keyring that reports ErrNoKeyring, so that the key is kept in a file. It
// is for tests and for systems whose keyring must not be asked.
func NoKeyring() Keyring { return noKeyring{} }

type noKeyring struct{}

func (noKeyring) Get(string, string) (string, error) { return "", ErrNoKeyring }
func (noKeyring) Set(string, string, string) error   { return ErrNoKeyring }
