// Package seal keeps the secrets of a store. It seals them under one key, and keeps that
// key in the system's keyring, or in a file of the user where no keyring can be had. It
// knows nothing of what is sealed, nor where that is stored.
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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"eventdeck/host/event"
	"eventdeck/store/private"
)

// FileKey is the name of the file with the sealing key, where it is not in the keyring.
const FileKey = "state.key"

// The places where the sealing key may be kept.
const (
	InKeyring = "keyring"
	InFile    = "file"
)

const keyringService = "eventdeck"

// keyringWithin is how long a keyring may take for an answer that the start of the program waits
// for.
const keyringWithin = 500 * time.Millisecond

// Key is a sealing key and what the store remembers of it.
type Key struct {
	Bytes []byte
	Kept  string // InKeyring or InFile
	Note  []byte // without the key itself; to be stored with what the key seals, also if it is locked
}

// note is [Key.Note] as JSON.
type note struct {
	Kept  string `json:"kept"`
	Check []byte `json:"check"` // digest that only the right key has; empty: it is to be made there
}

// account returns the entry of the keyring in which the key is kept: it follows from the key, so
// that a copy of the store finds it too.
func (n note) account() string { return fmt.Sprintf("store-%x", n.Check) }

// Keeper finds, makes and moves the sealing key of a store.
type Keeper struct {
	Dir    string        // of the file with the key, private to the user
	Ring   Keyring       // asked before a file is made
	Place  string        // where a new key is kept; "": in the keyring if it can be had now, else in a file
	Within time.Duration // how long the keyring may take for an answer; 0 means 0.5 s
	Random io.Reader     // for a new key
}

// Find returns the key that noted, a [Key.Note], describes, from where it is now. For nil it takes
// the newest one of the key file, with which something may be sealed, or makes one. A key that
// cannot be had is never replaced.
//
// Errors: [event.ErrKeyLocked] with what to do, after which it may succeed later, and the place of
// the key; [private.ErrRefused] for a key file that others can change; [event.ErrDamaged] for an
// invalid note; those of the file system for a new key.
func (k Keeper) Find(ctx context.Context, noted []byte) (Key, error) {
	n, err := readNote(noted)
	if err != nil {
		return Key{}, err
	}
	if n.Check == nil {
		keys, err := k.readFile()
		if err != nil {
			return Key{}, err
		}
		if k.Place = cmp.Or(k.Place, n.Kept); len(keys) > 0 && k.Place != InKeyring {
			return newKey(keys[0], InFile), nil
		}
		return k.Make(ctx)
	}
	places := []func(context.Context, note) (Key, error){k.inKeyring, k.inFile}
	if n.Kept == InFile { // the other place only if it was moved since this copy was made
		places[0], places[1] = places[1], places[0]
	}
	key, why := places[0](ctx, n)
	if why == nil {
		return key, nil
	}
	key, err = places[1](ctx, n)
	if err == nil {
		return key, nil
	}
	for _, err := range []error{why, err} {
		if errors.Is(err, private.ErrRefused) { // others can change the file
			return Key{}, err
		}
	}
	return Key{Kept: n.Kept, Note: noted}, fmt.Errorf("%w: %w", event.ErrKeyLocked, why)
}

// Make makes a key and keeps it.
//
// Errors: those of [Keeper.Keep] and of the randomness.
func (k Keeper) Make(ctx context.Context) (Key, error) {
	key := make([]byte, chacha20poly1305.KeySize)
	if _, err := io.ReadFull(k.Random, key); err != nil {
		return Key{}, fmt.Errorf("sealing key: no randomness: %w", err)
	}
	if k.Place != InFile {
		made, err := k.Keep(ctx, key, InKeyring)
		if err == nil || k.Place == InKeyring {
			return made, err
		}
	}
	return k.Keep(ctx, key, InFile)
}

// Keep keeps a key at a place, besides those that are there: see [Keeper.Forget].
//
// Errors: [event.ErrKeyLocked] if the keyring cannot be had now, those of the file system.
func (k Keeper) Keep(ctx context.Context, key []byte, place string) (Key, error) {
	kept, n := newKey(key, place), note{Check: checkOf(key)}
	if place == InFile {
		keys, err := k.readFile()
		if err != nil {
			return Key{}, err
		}
		return kept, k.writeFile(append([][]byte{key}, slices.DeleteFunc(keys, n.describes)...))
	}
	ctx, cancel := k.limited(ctx)
	defer cancel()
	err := k.Ring.Set(ctx, keyringService, n.account(), encodeKey(key))
	if err == nil { // a locked keyring of one system was seen to accept a secret and to hold nothing
		_, err = k.inKeyring(ctx, n)
	}
	if err != nil {
		return Key{Kept: place, Note: note{Kept: place}.text()}, fmt.Errorf("%w: %w", event.ErrKeyLocked, explained(err))
	}
	return kept, nil
}

// Forget removes the key that a [Key.Note] describes from the place that it names.
//
// Errors: those of the keyring and of the file system.
func (k Keeper) Forget(ctx context.Context, noted []byte) error {
	n, err := readNote(noted)
	if err != nil {
		return err
	}
	if n.Kept == InFile {
		keys, err := k.readFile()
		if err != nil {
			return err
		}
		if keys = slices.DeleteFunc(keys, n.describes); len(keys) == 0 {
			return os.Remove(filepath.Join(k.Dir, FileKey))
		}
		return k.writeFile(keys)
	}
	ctx, cancel := k.limited(ctx)
	defer cancel()
	return k.Ring.Delete(ctx, keyringService, n.account())
}

// Unlock has the keyring ask the operator to unlock it for the key that noted describes, or for a
// new one, and waits until ctx ends.
//
// Errors: those of [Keyring.Unlock].
func (k Keeper) Unlock(ctx context.Context, noted []byte) error {
	n, err := readNote(noted)
	if err != nil {
		return err
	}
	return k.Ring.Unlock(ctx, keyringService, n.account())
}

func (k Keeper) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	within := cmp.Or(k.Within, keyringWithin)
	return context.WithTimeoutCause(ctx, within, fmt.Errorf("%w within %v", errSilent, within))
}

func (k Keeper) inKeyring(ctx context.Context, n note) (Key, error) {
	ctx, cancel := k.limited(ctx)
	defer cancel()
	text, err := k.Ring.Get(ctx, keyringService, n.account())
	if err == nil && !n.describes(decodeKey(text)) {
		err = ErrNoKey
	}
	if err != nil {
		return Key{}, explained(err)
	}
	return newKey(decodeKey(text), InKeyring), nil
}

func (k Keeper) inFile(_ context.Context, n note) (Key, error) {
	keys, err := k.readFile()
	if err != nil {
		return Key{}, err
	}
	i := slices.IndexFunc(keys, n.describes)
	if i < 0 {
		return Key{}, fmt.Errorf("%s does not have the key; put it back, or `eventdeck store key new` makes another", filepath.Join(k.Dir, FileKey))
	}
	return newKey(keys[i], InFile), nil
}

// readFile returns the keys of the key file, newest first. A line that is no key is left out.
func (k Keeper) readFile() (keys [][]byte, err error) {
	content, err := private.Read(k.Dir, FileKey)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sealing key: %w", err)
	}
	for line := range strings.Lines(string(content)) {
		if key := decodeKey(strings.TrimSpace(line)); key != nil {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func (k Keeper) writeFile(keys [][]byte) error {
	var text strings.Builder
	for _, key := range keys {
		text.WriteString(encodeKey(key) + "\n")
	}
	if err := private.Write(k.Dir, FileKey, []byte(text.String())); err != nil {
		return fmt.Errorf("keep the sealing key: %w", err)
	}
	return nil
}

// explained appends to an error of the keyring what to do.
func explained(err error) error {
	advice := "unlock it"
	switch {
	case errors.Is(err, ErrNoKeyring):
		advice = "start this in the session that has it"
	case errors.Is(err, ErrNoKey):
		advice = "start this in the session whose keyring does, or `eventdeck store key new` makes another"
	}
	return fmt.Errorf("%w; %s", err, advice)
}

// readNote returns the zero note for nil.
func readNote(noted []byte) (n note, err error) {
	if noted == nil {
		return n, nil
	}
	if err := json.Unmarshal(noted, &n); err != nil {
		return n, fmt.Errorf("%w: what it says of its sealing key: %w", event.ErrDamaged, err)
	}
	return n, nil
}

func (n note) text() []byte {
	text, _ := json.Marshal(n) // a string and bytes cannot fail
	return text
}

func (n note) describes(key []byte) bool {
	return key != nil && string(checkOf(key)) == string(n.Check)
}

func newKey(key []byte, kept string) Key {
	return Key{Bytes: key, Kept: kept, Note: note{Kept: kept, Check: checkOf(key)}.text()}
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
