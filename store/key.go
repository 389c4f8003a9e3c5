package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/seal"
	"eventdeck/store/tables"
)

const (
	keyEvery     = 2 * time.Second  // how often a locked key is looked for
	promptWithin = 60 * time.Second // for the operator to unlock the keyring
)

// sealing is the sealing key of an open store.
type sealing struct {
	keeper   seal.Keeper
	state    atomic.Pointer[keyState]
	unlocked chan struct{} // closed once there is a key
	wanted   chan struct{} // closed once a caller waits for a secret
	want     sync.Once
}

// keyState is a sealing key that may be locked.
type keyState struct {
	noted  []byte // that the file holds; nil: none
	kept   string // where the key is; "memory" for a temporary store
	sealer seal.Sealer
	locked error // why there is no key, an [event.ErrKeyLocked]; nil: there is one
}

// openKey finds the sealing key. One that cannot be had now is looked for later: see
// [Store.awaitKey].
func (s *Store) openKey(ctx context.Context, o Options) error {
	k := &s.key
	k.unlocked, k.wanted = make(chan struct{}), make(chan struct{})
	k.keeper = seal.Keeper{Dir: s.dir, Ring: o.Keyring, Place: o.KeyPlace, Random: o.Random}
	if s.temporary {
		key := make([]byte, 32)
		if _, err := io.ReadFull(o.Random, key); err != nil {
			return fmt.Errorf("sealing key: no randomness: %w", err)
		}
		return k.use(seal.Key{Bytes: key, Kept: "memory"})
	}
	var noted []byte
	err := boltfile.View(s.db, func(tx *boltfile.Tx) error {
		value, err := tx.Bucket(tables.Meta).Get(tables.KeySeal)
		noted = bytes.Clone(value)
		return err
	})
	if err != nil {
		return err
	}
	key, locked := k.keeper.Find(ctx, noted)
	if locked != nil && !errors.Is(locked, event.ErrKeyLocked) {
		return locked
	}
	if !bytes.Equal(key.Note, noted) {
		err := boltfile.Update(s.db, func(tx *boltfile.Tx) error { return tx.Bucket(tables.Meta).Put(tables.KeySeal, key.Note) })
		if err != nil {
			return err
		}
	}
	if locked != nil {
		k.state.Store(&keyState{noted: key.Note, kept: key.Kept, locked: locked})
		return nil
	}
	return k.use(key)
}

// use makes a key the one with which secrets are sealed and opened.
func (k *sealing) use(key seal.Key) error {
	sealer, err := seal.NewSealer(key.Bytes, k.keeper.Random)
	if err != nil {
		return err
	}
	had := k.state.Swap(&keyState{noted: key.Note, kept: key.Kept, sealer: sealer})
	if had == nil || had.locked != nil {
		close(k.unlocked)
	}
	return nil
}

// Unlocked implements [event.Store].
func (s *Store) Unlocked() <-chan struct{} {
	s.key.want.Do(func() { close(s.key.wanted) })
	return s.key.unlocked
}

// sealer returns what seals and opens secrets. Error: [event.ErrKeyLocked].
func (s *Store) sealer() (seal.Sealer, error) {
	key := s.key.state.Load()
	if key.locked != nil {
		s.Unlocked() // it is wanted
	}
	return key.sealer, key.locked
}

// awaitKey looks for a locked key until it is there or ctx ends. When it is first wanted, and
// there is a terminal, the keyring asks the operator.
func (s *Store) awaitKey(ctx context.Context, every time.Duration, prompt bool) {
	wanted := s.key.wanted
	if !prompt {
		wanted = nil
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for s.key.state.Load().locked != nil {
		select {
		case <-wanted:
			wanted = nil
			s.key.prompt(ctx)
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		s.findKey(ctx)
	}
}

// prompt has the keyring ask the operator. What comes of it shows when the key is looked for.
func (k *sealing) prompt(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, promptWithin)
	defer cancel()
	_ = k.keeper.Unlock(ctx, k.state.Load().noted)
}

// findKey looks for a locked key, and opens the secrets of all subscriptions with it.
func (s *Store) findKey(ctx context.Context) {
	was := s.key.state.Load()
	key, err := s.key.keeper.Find(ctx, was.noted)
	if err == nil {
		err = s.changeKey(ctx, key, func(c *commit, sealer seal.Sealer) error {
			for _, kept := range c.sealedSubs() {
				kept.Open(sealer)
			}
			return nil
		})
	}
	if err != nil && !errors.Is(err, event.ErrKeyLocked) {
		err = fmt.Errorf("%w: %w", event.ErrKeyLocked, err)
	}
	if err != nil {
		s.key.state.Store(&keyState{noted: was.noted, kept: was.kept, locked: err})
	}
}

// changeKey commits a change that belongs to a key with the note of it, and uses that key.
func (s *Store) changeKey(ctx context.Context, key seal.Key, change func(*commit, seal.Sealer) error) error {
	sealer, err := seal.NewSealer(key.Bytes, s.key.keeper.Random)
	if err != nil {
		return err
	}
	err = s.do(ctx, func(c *commit) error {
		if err := change(c, sealer); err != nil {
			return err
		}
		return c.tx.Bucket(tables.Meta).Put(tables.KeySeal, key.Note)
	})
	if err != nil {
		return err
	}
	return s.key.use(key)
}

// sealedSubs returns the subscriptions with secrets, for changing.
func (c *commit) sealedSubs() (subs []*tables.KeptSub) {
	for _, sub := range c.store.Subscriptions() {
		if kept, known := c.changing(sub.ID); known && kept.Sealed() {
			c.subs[sub.ID] = kept
			subs = append(subs, kept)
		}
	}
	return subs
}

// NewKey is the word for another key in [ChangeKey], beside [seal.InKeyring] and [seal.InFile].
const NewKey = "new"

// ChangeKey moves the sealing key of a store to another place, or, with [NewKey], makes another
// key and seals all secrets with it. Where the old key cannot be had, they are lost: without lose
// it changes nothing then, and its error says which. It calls say with lines of a report.
//
// Errors: those of [Open]; [event.ErrKeyLocked].
func ChangeKey(ctx context.Context, o Options, to string, lose bool, say func(string)) (err error) {
	o.noAwait = true
	s, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.key.state.Load().locked != nil && o.Prompt {
		s.key.prompt(ctx)
		s.findKey(ctx)
	}
	was := s.key.state.Load()
	switch {
	case to == NewKey:
		err = s.newKey(ctx, lose, say)
	case was.locked != nil:
		return was.locked
	case to == was.kept:
		say("the sealing key is there already")
		return nil
	default:
		err = s.moveKey(ctx, to)
	}
	if err != nil {
		return err
	}
	say("the sealing key is in the " + s.key.state.Load().kept)
	if was.locked != nil || was.noted == nil {
		return nil // the old key stays where it is, for whoever has it again
	}
	if err := s.key.keeper.Forget(ctx, was.noted); err != nil {
		return fmt.Errorf("remove the sealing key from the %s where it was: %w", was.kept, err)
	}
	return nil
}

func (s *Store) moveKey(ctx context.Context, to string) error {
	k := &s.key
	key, err := k.keeper.Find(ctx, k.state.Load().noted)
	if err != nil {
		return err
	}
	if key, err = k.keeper.Keep(ctx, key.Bytes, to); err != nil {
		return err
	}
	return s.changeKey(ctx, key, func(*commit, seal.Sealer) error { return nil })
}

func (s *Store) newKey(ctx context.Context, lose bool, say func(string)) error {
	was := s.key.state.Load()
	credentials := map[string][]byte{}
	err := s.view(func(tx *boltfile.Tx) error {
		return tx.Bucket(tables.Settings).Each(func(name, value []byte) error {
			if name, ok := strings.CutPrefix(string(name), credentialPrefix); ok {
				credentials[name] = bytes.Clone(value)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if lost := s.secretsLost(len(credentials)); was.locked != nil && lost != "" {
		if !lose {
			return fmt.Errorf("%w; another key would make unreadable %s; --yes goes on", was.locked, lost)
		}
		say("unreadable from now on: " + lost)
	}
	if was.kept == seal.InFile {
		s.key.keeper.Place = seal.InFile
	}
	key, err := s.key.keeper.Make(ctx)
	if err != nil {
		return err
	}
	return s.changeKey(ctx, key, func(c *commit, sealer seal.Sealer) error {
		for _, kept := range c.sealedSubs() {
			if err := kept.Reseal(sealer); err != nil {
				return err
			}
		}
		for name, value := range credentials {
			if err := reseal(c.tx.Bucket(tables.Settings), name, value, was.sealer, sealer); err != nil {
				return err
			}
		}
		return nil
	})
}

// reseal seals a credential with another key, or removes one that cannot be opened.
func reseal(b boltfile.Bucket, name string, value []byte, old, now seal.Sealer) error {
	key := []byte(credentialPrefix + name)
	plain, err := old.Open(credentialPlace(name), value)
	if err != nil {
		return b.Delete(key)
	}
	if value, err = now.Seal(credentialPlace(name), plain); err != nil {
		return err
	}
	return b.Put(key, value)
}

// secretsLost says what becomes unreadable with the key; "" if nothing is sealed.
func (s *Store) secretsLost(credentials int) string {
	var lost []string
	s.subs.mu.RLock()
	for id, kept := range s.subs.byID {
		if kept.Sealed() {
			lost = append(lost, "the secrets of subscription "+string(id)+" (it gets new ones)")
		}
	}
	s.subs.mu.RUnlock()
	slices.Sort(lost)
	if credentials > 0 {
		lost = append(lost, event.Some(credentials, "sign-in or address", "sign-ins and addresses")+" with secrets (sign in, or give the address, again)")
	}
	return strings.Join(lost, ", ")
}
