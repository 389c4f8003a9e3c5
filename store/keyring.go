package store

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/zalando/go-keyring"
	bolt "go.etcd.io/bbolt"
	"golang.org/x/crypto/chacha20poly1305"

	"eventdeck/store/boltfile"
	"eventdeck/store/private"
)

// What a [Keyring] reports besides errors of its own.
var (
	// ErrNoKeyring: there is no keyring service on this system.
	ErrNoKeyring = errors.New("no keyring service")
	// ErrNoKey: the keyring works and has no such entry.
	ErrNoKey = errors.New("no such entry in the keyring")
)

// Keyring keeps small secrets outside of the store. Calls may take as long as
// they like, because a person may be asked: the store gives up after 3 s.
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

// NoKeyring returns a keyring that is not there, so that the key is kept in a
// file. It is for tests and for systems whose keyring must not be asked.
func NoKeyring() Keyring { return noKeyring{} }

type noKeyring struct{}

func (noKeyring) Get(string, string) (string, error) { return "", ErrNoKeyring }
func (noKeyring) Set(string, string, string) error   { return ErrNoKeyring }

const (
	keyringService = "eventdeck"
	keyringLimit   = 3 * time.Second
)

// The places where the sealing key may be kept.
const (
	sealedKeyring = "keyring"
	sealedFile    = "file"
	sealedMemory  = "memory"
)

// sealInfo is what the store remembers of its sealing key. The place is fixed
// once it was chosen.
type sealInfo struct {
	Kept    string `json:"kept"`
	Account string `json:"account"` // in the keyring
	Check   []byte `json:"check"`   // digest that only the right key has
}

// keeper finds or makes the sealing key of a store.
type keeper struct {
	dir    string
	ring   Keyring
	limit  time.Duration
	random io.Reader
}

// key returns the sealing key and where it is kept. A key that is gone is
// replaced by a new one under a new name; what was sealed with the old one stays
// unreadable.
//
// Error: [ErrKeyring].
func (k keeper) key(ctx context.Context, db *bolt.DB) (key []byte, kept string, err error) {
	info, err := readSealInfo(db)
	if err != nil {
		return nil, "", err
	}
	switch info.Kept {
	case sealedKeyring:
		key, err = k.fromKeyring(ctx, info.Account)
	case sealedFile:
		key, err = k.fromFile()
	}
	if err != nil {
		return nil, "", err
	}
	if key != nil && string(checkOf(key)) == string(info.Check) {
		return key, info.Kept, nil
	}
	if key, info, err = k.create(ctx, info.Kept); err != nil {
		return nil, "", err
	}
	return key, info.Kept, writeSealInfo(db, info)
}

// create makes a new key and keeps it at the given place; "" lets it choose.
func (k keeper) create(ctx context.Context, kept string) ([]byte, sealInfo, error) {
	var b [chacha20poly1305.KeySize + 8]byte
	if _, err := io.ReadFull(k.random, b[:]); err != nil {
		return nil, sealInfo{}, fmt.Errorf("sealing key: no randomness: %w", err)
	}
	key := b[:chacha20poly1305.KeySize:chacha20poly1305.KeySize]
	info := sealInfo{Kept: sealedKeyring, Account: fmt.Sprintf("store-%x", b[len(key):]), Check: checkOf(key)}

	if kept != sealedFile {
		err := k.toKeyring(ctx, info.Account, key)
		if err == nil || kept == sealedKeyring || !errors.Is(err, ErrNoKeyring) {
			return key, info, err
		}
	}
	info.Kept, info.Account = sealedFile, ""
	if err := private.Write(k.dir, fileKey, []byte(encodeKey(key))); err != nil {
		return nil, info, fmt.Errorf("keep the sealing key: %w", err)
	}
	return key, info, nil
}

// fromKeyring returns nil when the keyring has no usable key.
func (k keeper) fromKeyring(ctx context.Context, account string) ([]byte, error) {
	text, err := k.ask(ctx, func() (string, error) { return k.ring.Get(keyringService, account) })
	if errors.Is(err, ErrNoKey) {
		return nil, nil
	}
	return decodeKey(text), err
}

// toKeyring keeps the key and reads it back: a locked keyring of one system was
// seen to take a secret and to hold nothing.
func (k keeper) toKeyring(ctx context.Context, account string, key []byte) error {
	back, err := k.ask(ctx, func() (string, error) {
		if err := k.ring.Set(keyringService, account, encodeKey(key)); err != nil {
			return "", err
		}
		return k.ring.Get(keyringService, account)
	})
	if err == nil && back != encodeKey(key) {
		return fmt.Errorf("%w: it did not keep what was stored; unlock it and try again", ErrKeyring)
	}
	return err
}

// ask waits for the keyring, at most the limit. A call that never returns leaves
// its goroutine behind: the systems' interfaces cannot be interrupted.
func (k keeper) ask(ctx context.Context, call func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, err := call()
		answered <- answer{text, err}
	}()
	limit := time.NewTimer(k.limit)
	defer limit.Stop()
	select {
	case a := <-answered:
		if a.err != nil {
			return "", fmt.Errorf("%w: %w; unlock it, or start this in the session that has it, or use --data DIR for another place", ErrKeyring, a.err)
		}
		return a.text, nil
	case <-limit.C:
		return "", fmt.Errorf("%w: no answer within %v; unlock it and try again", ErrKeyring, k.limit)
	case <-ctx.Done():
		return "", fmt.Errorf("%w: %w", ErrKeyring, context.Cause(ctx))
	}
}

// fromFile returns nil when there is no usable key.
func (k keeper) fromFile() ([]byte, error) {
	content, err := private.Read(k.dir, fileKey)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sealing key: %w", err)
	}
	return decodeKey(string(content)), nil
}

func encodeKey(key []byte) string { return base64.StdEncoding.EncodeToString(key) }

// decodeKey returns nil for what is not a key.
func decodeKey(text string) []byte {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != chacha20poly1305.KeySize {
		return nil
	}
	return key
}

func checkOf(key []byte) []byte {
	sum := sha256.Sum256(append([]byte("eventdeck sealing key\x00"), key...))
	return sum[:16]
}

func readSealInfo(db *bolt.DB) (info sealInfo, err error) {
	err = boltfile.View(db, func(tx *boltfile.Tx) error {
		v, err := tx.Bucket(bucketMeta).Get(metaSeal)
		if err != nil || v == nil {
			return err
		}
		if err := json.Unmarshal(v, &info); err != nil {
			return fmt.Errorf("%w: what it says of its sealing key: %w", ErrDamaged, err)
		}
		return nil
	})
	return info, err
}

func writeSealInfo(db *bolt.DB, info sealInfo) error {
	value, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("sealing key: %w", err)
	}
	return boltfile.Update(db, func(tx *boltfile.Tx) error { return tx.Bucket(bucketMeta).Put(metaSeal, value) })
}
