//go:build !unix || darwin

package seal

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/zalando/go-keyring"
)

// systemKeyring is the keychain of macOS, which asks for its password itself, or the credential
// manager of Windows.
type systemKeyring struct{}

func (systemKeyring) Get(ctx context.Context, service, account string) (string, error) {
	return bounded(ctx, func() (string, error) {
		secret, err := keyring.Get(service, account)
		return secret, keyringError(err)
	})
}

func (systemKeyring) Set(ctx context.Context, service, account, secret string) error {
	_, err := bounded(ctx, func() (string, error) { return "", keyringError(keyring.Set(service, account, secret)) })
	return err
}

func (systemKeyring) Delete(ctx context.Context, service, account string) error {
	_, err := bounded(ctx, func() (string, error) { return "", keyringError(keyring.Delete(service, account)) })
	return err
}

func (k systemKeyring) Unlock(ctx context.Context, service, account string) error {
	_, err := k.Get(ctx, service, account)
	return err
}

func keyringError(err error) error {
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNoKey
	case errors.Is(err, keyring.ErrUnsupportedPlatform), errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%w: %w", ErrNoKeyring, err)
	}
	return err
}
