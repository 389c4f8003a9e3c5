// Package seal keeps the secrets of a store. It seals them under one key, and keeps that
// key in the system's keyring, or in a file of the user where there is no keyring
// service. It knows nothing of what is sealed, nor where that is stored.
package seal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"eventdeck/host/event"
	"eventdeck/store/private"
)

// ErrKeyring: the keyring did not give or keep the sealing key: it is locked, did not
// answer, or is not there although it has the key.
var ErrKeyring = errors.New("the system's keyring")

// FileKey is the name of the file with the sealing key, where there is no keyring.
const FileKey = "state.key"

// The places where the sealing key may be kept.
const (
	InKeyring = "keyring"
	InFile    = "file"
)

const (
	keyringService = "eventdeck"
	keyringLimit   = 3 * time.Second
)

// note is what the store remembers of its sealing key, as JSON. The place is fixed once
// it was chosen.
type note struct {
	Kept    string `json:"kept"`
	Account string `json:"account"` // in the keyring
	Check   []byte `json:"check"`   // digest that only the right key has
}

// Keeper finds or makes the sealing key of a store.
type Keeper struct {
	Dir    string        // of the file with the key, private to the user
	Ring   Keyring       // asked before a file is made
	Limit  time.Duration // how long the keyring may take for an answer; 0 means 3 s
	Random io.Reader     // for a new key
}

// Key returns the sealing key and where it is kept, [InKeyring] or [InFile]. noted is the
// stored note about the key, nil for a new store; fresh is the note to store from now on, nil
// if noted still holds. A key that is gone is replaced by a new one under a new name; what was
// sealed with the old one stays unreadable.
//
// Errors: [ErrKeyring]; [event.ErrDamaged] for an invalid note; those of the file system.
func (k Keeper) Key(ctx context.Context, noted []byte) (key []byte, kept string, fresh []byte, err error) {
	var have note
	if noted != nil {
		if err := json.Unmarshal(noted, &have); err != nil {
			return nil, "", nil, fmt.Errorf("%w: what it says of its sealing key: %w", event.ErrDamaged, err)
		}
	}
	switch have.Kept {
	case InKeyring:
		key, err = k.fromKeyring(ctx, have.Account)
	case InFile:
		key, err = k.fromFile()
	}
	if err != nil {
		return nil, "", nil, err
	}
	if key != nil && string(checkOf(key)) == string(have.Check) {
		return key, have.Kept, nil, nil
	}
	if key, have, err = k.create(ctx, have.Kept); err != nil {
		return nil, "", nil, err
	}
	if fresh, err = json.Marshal(have); err != nil {
		return nil, "", nil, fmt.Errorf("sealing key: %w", err)
	}
	return key, have.Kept, fresh, nil
}

// create makes a new key and keeps it at the given place; "" lets it choose.
func (k Keeper) create(ctx context.Context, kept string) ([]byte, note, error) {
	var b [chacha20poly1305.KeySize + 8]byte
	if _, err := io.ReadFull(k.Random, b[:]); err != nil {
		return nil, note{}, fmt.Errorf("sealing key: no randomness: %w", err)
	}
	key := b[:chacha20poly1305.KeySize:chacha20poly1305.KeySize]
	made := note{Kept: InKeyring, Account: fmt.Sprintf("store-%x", b[len(key):]), Check: checkOf(key)}

	if kept != InFile {
		err := k.toKeyring(ctx, made.Account, key)
		if err == nil || kept == InKeyring || !errors.Is(err, ErrNoKeyring) {
			return key, made, err
		}
	}
	made.Kept, made.Account = InFile, ""
	if err := private.Write(k.Dir, FileKey, []byte(encodeKey(key))); err != nil {
		return nil, made, fmt.Errorf("keep the sealing key: %w", err)
	}
	return key, made, nil
}

// fromKeyring returns nil when the keyring has no usable key.
func (k Keeper) fromKeyring(ctx context.Context, account string) ([]byte, error) {
	text, err := k.ask(ctx, func() (string, error) { return k.Ring.Get(keyringService, account) })
	if errors.Is(err, ErrNoKey) {
		return nil, nil
	}
	return decodeKey(text), err
}

// toKeyring keeps the key and reads it back: a locked keyring of one system was seen to accept
// a secret and to hold nothing.
func (k Keeper) toKeyring(ctx context.Context, account string, key []byte) error {
	back, err := k.ask(ctx, func() (string, error) {
		if err := k.Ring.Set(keyringService, account, encodeKey(key)); err != nil {
			return "", err
		}
		return k.Ring.Get(keyringService, account)
	})
	if err == nil && back != encodeKey(key) {
		return fmt.Errorf("%w: it did not keep what was stored; unlock it and try again", ErrKeyring)
	}
	return err
}

// ask waits for the keyring, at most the limit. A call that never returns leaves
// its goroutine behind: the systems' interfaces cannot be interrupted.
func (k Keeper) ask(ctx context.Context, call func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, err := call()
		answered <- answer{text, err}
	}()
	wait := cmp.Or(k.Limit, keyringLimit)
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case a := <-answered:
		if a.err != nil {
			return "", fmt.Errorf("%w: %w; unlock it, or start this in the session that has it, or use --data DIR for another place", ErrKeyring, a.err)
		}
		return a.text, nil
	case <-limit.C:
		return "", fmt.Errorf("%w: no answer within %v; unlock it and try again", ErrKeyring, wait)
	case <-ctx.Done():
		return "", fmt.Errorf("%w: %w", ErrKeyring, context.Cause(ctx))
	}
}

// fromFile returns nil when there is no usable key.
func (k Keeper) fromFile() ([]byte, error) {
	content, err := private.Read(k.Dir, FileKey)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sealing key: %w", err)
	}
	return decodeKey(string(content)), nil
}

func encodeKey(key []byte) string { return base64.StdEncoding.EncodeToString(key) }

// decodeKey returns nil if text is not a key.
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
