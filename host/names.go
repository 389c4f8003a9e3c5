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
// Error: [event.ErrNotFound], when the store does not have it, or its sealing key is lost.
func AddressOf(s event.Store, name string) (string, error) {
	address, err := s.Credential(credentialAddress + name)
	if err != nil {
		return "", fmt.Errorf("the address of %s, give it as a whole: %w", name, err)
	}
	return address.Reveal(), nil
}

// Renamed returns a store in which no name of a server holds a secret. Stores of earlier
// versions named a server by its complete address; its subscriptions, which keep their ids,
// are found by the key with the new name too.
func Renamed(ctx context.Context, s event.Store) event.Store {
	r := &renamedStore{Store: s, names: map[string]string{}, ids: map[event.SubID]event.SubID{}}
	for _, seen := range s.Servers() {
		r.addName(ctx, seen.Name)
	}
	for _, sub := range s.Subscriptions() {
		r.addName(ctx, sub.Key.Server)
		if id := r.sub(sub).Key.ID(); id != sub.ID {
			r.ids[id] = sub.ID
		}
	}
	if len(r.names) == 0 && len(r.ids) == 0 {
		return s
	}
	return r
}

// renamedStore is a store with names of servers that hold secrets.
type renamedStore struct {
	event.Store
	names map[string]string           // the new name of each
	ids   map[event.SubID]event.SubID // the id of a key with a new name -> the id that is stored
}

func (r *renamedStore) addName(ctx context.Context, old string) {
	public := event.PublicAddress(old)
	if public == old || r.names[old] != "" {
		return
	}
	name, err := AddressName(ctx, r.Store, old)
	if err != nil { // the store cannot be written; still, no secret may be shown
		name = public
	}
	r.names[old] = name
}

func (r *renamedStore) name(server string) string {
	if name, ok := r.names[server]; ok {
		return name
	}
	return server
}

func (r *renamedStore) sub(s event.Subscription) event.Subscription {
	s.Key.Server = r.name(s.Key.Server)
	return s
}

func (r *renamedStore) record(rec event.Record) event.Record {
	rec.Server = r.name(rec.Server)
	return rec
}

// Submit implements [event.Store]. A subscription that changes is kept under its new
// name.
func (r *renamedStore) Submit(ctx context.Context, b event.Batch) error {
	if update := b.Update; update != nil {
		b.Update = func(s *event.Subscription) {
			s.Key.Server = r.name(s.Key.Server)
			update(s)
		}
	}
	return r.Store.Submit(ctx, b)
}

// Get implements [event.Store].
func (r *renamedStore) Get(seq uint64) (event.Record, error) {
	rec, err := r.Store.Get(seq)
	return r.record(rec), err
}

// Forward implements [event.Store].
func (r *renamedStore) Forward(seq uint64, fn func(event.Record) bool) error {
	return r.Store.Forward(seq, func(rec event.Record) bool { return fn(r.record(rec)) })
}

// Backward implements [event.Store].
func (r *renamedStore) Backward(seq uint64, fn func(event.Record) bool) error {
	return r.Store.Backward(seq, func(rec event.Record) bool { return fn(r.record(rec)) })
}

// Scan implements [event.Store].
func (r *renamedStore) Scan(from, to uint64, fn func(*event.Record) bool) error {
	return r.Store.Scan(from, to, func(rec *event.Record) bool {
		shown := r.record(*rec)
		return fn(&shown)
	})
}

// Subscriptions implements [event.Store].
func (r *renamedStore) Subscriptions() []event.Subscription {
	subs := r.Store.Subscriptions()
	for i := range subs {
		subs[i] = r.sub(subs[i])
	}
	return subs
}

// Subscription implements [event.Store]. The id may be that of the key with the new name.
func (r *renamedStore) Subscription(id event.SubID) (event.Subscription, error) {
	sub, err := r.Store.Subscription(id)
	if old, ok := r.ids[id]; ok && errors.Is(err, event.ErrNotFound) {
		sub, err = r.Store.Subscription(old)
	}
	return r.sub(sub), err
}

// Servers implements [event.Store].
func (r *renamedStore) Servers() []event.ServerSeen {
	seen := r.Store.Servers()
	for i := range seen {
		seen[i].Name = r.name(seen[i].Name)
	}
	return seen
}

// AuditBefore implements [event.Store].
func (r *renamedStore) AuditBefore(seq uint64, fn func(event.AuditEntry) bool) error {
	return r.Store.AuditBefore(seq, func(e event.AuditEntry) bool {
		e.Server = r.name(e.Server)
		return fn(e)
	})
}

// Backup copies the store, where it can be copied while it is in use.
func (r *renamedStore) Backup(ctx context.Context, path string) (int64, error) {
	b, ok := r.Store.(interface {
		Backup(ctx context.Context, path string) (int64, error)
	})
	if !ok {
		return 0, errors.New("this store cannot be copied while it is in use")
	}
	return b.Backup(ctx, path)
}

// idOf returns the id under which a key's subscription is stored, or would be.
func (h *Host) idOf(k event.Key) event.SubID {
	if sub, err := h.opts.Store.Subscription(k.ID()); err == nil {
		return sub.ID
	}
	return k.ID()
}
