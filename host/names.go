package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"eventdeck/host/event"
)

// Names of credentials in the store: the key under which addresses are hashed, and, with a prefix,
// the addresses.
const (
	credentialNames   = "addresses"
	credentialAddress = "address/"
)

// AddressName returns the name of a server that is given by its address: see
// [event.AddressName]. The store keeps the key and the address, sealed.
//
// Errors: those of the store.
func AddressName(ctx context.Context, s event.Store, address string) (string, error) {
	if event.PublicAddress(address) == address {
		return address, nil
	}
	key, err := s.Credential(credentialNames)
	if errors.Is(err, event.ErrNotFound) {
		key = event.NewSecret(rand.Text())
		err = s.SetCredential(ctx, credentialNames, key)
	}
	if err != nil {
		return "", err
	}
	name := event.AddressName(address, []byte(key.Reveal()))
	if _, err := s.Credential(credentialAddress + name); err == nil || !errors.Is(err, event.ErrNotFound) {
		return name, err
	}
	return name, s.SetCredential(ctx, credentialAddress+name, event.NewSecret(address))
}

// AddressOf returns the address of a server with a name that [AddressName] made.
//
// Errors: [event.ErrNotFound], [event.ErrKeyLocked].
func AddressOf(s event.Store, name string) (string, error) {
	address, err := s.Credential(credentialAddress + name)
	if err != nil {
		return "", fmt.Errorf("the address of %s, give it as a whole: %w", name, err)
	}
	return address.Reveal(), nil
}
