package seal

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"

	"eventdeck/host/event"
)

// sealVersion is the first byte of a sealed value and a part of what is
// authenticated with it.
const sealVersion = 1

// ErrSealed: a value was sealed with another key, for another place, or is damaged.
var ErrSealed = errors.New("sealed with another key, or damaged")

// Sealer seals small values with XChaCha20-Poly1305 under the store's one key.
// The place of a value (bucket, key, field) is authenticated with it, so that a
// sealed value cannot be moved to another place. The zero value has no key: it is locked.
type Sealer struct {
	aead   cipher.AEAD
	random io.Reader
}

// NewSealer returns a sealer with a key of 32 bytes, which takes its nonces from random.
//
// Error: a key of another length.
func NewSealer(key []byte, random io.Reader) (Sealer, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return Sealer{}, fmt.Errorf("sealing key: %w", err)
	}
	return Sealer{aead, random}, nil
}

// Locked reports whether there is no key.
func (s Sealer) Locked() bool { return s.aead == nil }

// Seal returns version, nonce and ciphertext of plain; nil if plain is empty.
//
// Errors: [event.ErrKeyLocked], those of the randomness.
func (s Sealer) Seal(place, plain string) ([]byte, error) {
	if plain == "" {
		return nil, nil
	}
	if s.Locked() {
		return nil, event.ErrKeyLocked
	}
	out := make([]byte, 1+chacha20poly1305.NonceSizeX, 1+chacha20poly1305.NonceSizeX+len(plain)+chacha20poly1305.Overhead)
	out[0] = sealVersion
	nonce := out[1:]
	if _, err := io.ReadFull(s.random, nonce); err != nil {
		return nil, fmt.Errorf("seal a secret: no randomness: %w", err)
	}
	return s.aead.Seal(out, nonce, []byte(plain), sealPlace(place)), nil
}

// Open is the reverse of Seal.
//
// Errors: [event.ErrKeyLocked], [ErrSealed].
func (s Sealer) Open(place string, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	if s.Locked() {
		return "", event.ErrKeyLocked
	}
	if sealed[0] != sealVersion || len(sealed) < 1+chacha20poly1305.NonceSizeX {
		return "", ErrSealed
	}
	nonce, text := sealed[1:1+chacha20poly1305.NonceSizeX], sealed[1+chacha20poly1305.NonceSizeX:]
	plain, err := s.aead.Open(nil, nonce, text, sealPlace(place))
	if err != nil {
		return "", ErrSealed
	}
	return string(plain), nil
}

func sealPlace(place string) []byte { return append([]byte(place), 0, sealVersion) }
