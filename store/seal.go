package store

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

// sealVersion is the first byte of a sealed value and a part of what is
// authenticated with it.
const sealVersion = 1

var errSealed = errors.New("sealed with another key, or damaged")

// sealer seals small values with XChaCha20-Poly1305 under the store's one key.
// The place of a value (bucket, key, field) is authenticated with it, so that a
// sealed value cannot be moved to another place.
type sealer struct {
	aead   cipher.AEAD
	random io.Reader
}

func newSealer(key []byte, random io.Reader) (sealer, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return sealer{}, fmt.Errorf("sealing key: %w", err)
	}
	return sealer{aead, random}, nil
}

// seal returns version, nonce and ciphertext of plain. Nothing seals to nil.
func (s sealer) seal(place, plain string) ([]byte, error) {
	if plain == "" {
		return nil, nil
	}
	out := make([]byte, 1+chacha20poly1305.NonceSizeX, 1+chacha20poly1305.NonceSizeX+len(plain)+chacha20poly1305.Overhead)
	out[0] = sealVersion
	nonce := out[1:]
	if _, err := io.ReadFull(s.random, nonce); err != nil {
		return nil, fmt.Errorf("seal a secret: no randomness: %w", err)
	}
	return s.aead.Seal(out, nonce, []byte(plain), sealPlace(place)), nil
}

// open is the reverse of seal.
//
// Error: errSealed.
func (s sealer) open(place string, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	if sealed[0] != sealVersion || len(sealed) < 1+chacha20poly1305.NonceSizeX {
		return "", errSealed
	}
	nonce, text := sealed[1:1+chacha20poly1305.NonceSizeX], sealed[1+chacha20poly1305.NonceSizeX:]
	plain, err := s.aead.Open(nil, nonce, text, sealPlace(place))
	if err != nil {
		return "", errSealed
	}
	return string(plain), nil
}

func sealPlace(place string) []byte { return append([]byte(place), 0, sealVersion) }
