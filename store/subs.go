package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/boltfile"
)

// subVersion is the version of storedSub.
const subVersion = 1

// storedSub is a subscription in the file, as JSON. Everything that a server or
// an operator wrote is bytes, since JSON strings cannot hold every text.
type storedSub struct {
	V       int       `json:"v"`
	Server  []byte    `json:"server"`
	Type    []byte    `json:"type"`
	Args    []byte    `json:"args"`
	Shown   []byte    `json:"shown,omitempty"` // absent: the arguments as they are
	Created timestamp `json:"created"`

	Mode      event.Mode `json:"mode"`
	Failover  bool       `json:"failover,omitempty"`
	Preferred event.Mode `json:"preferred,omitempty"`

	MaxAge        time.Duration `json:"maxAge,omitempty"`
	TTL           time.Duration `json:"ttl,omitempty"`
	Cursor        *storedCursor `json:"cursor,omitempty"`
	Gave          bool          `json:"gave,omitempty"`
	LastSeen      timestamp     `json:"lastSeen"`
	CompleteUntil timestamp     `json:"whole,omitzero"`
	Paused        bool          `json:"paused,omitempty"`

	Before   *storedCursor  `json:"before,omitempty"`
	Newest   []byte         `json:"newest,omitempty"`
	Proved   *storedCursor  `json:"proved,omitempty"`
	ProvedAt timestamp      `json:"provedAt,omitzero"`
	Settled  *storedFailure `json:"settled,omitempty"`
	Proof    []byte         `json:"proof,omitempty"`

	State    event.State `json:"state,omitempty"`
	Evidence []byte      `json:"evidence,omitempty"`
	Error    []byte      `json:"error,omitempty"`

	Lease storedLease `json:"lease"`
	Hook  storedHook  `json:"hook"`

	Dialect  []byte `json:"dialect,omitempty"`
	NoReplay bool   `json:"noReplay,omitempty"`
	Resume   []byte `json:"resume,omitempty"` // sealed

	Printed uint64 `json:"printed,omitempty"`
}

// storedFailure is present when it is not zero.
type storedFailure struct {
	Error []byte `json:"error,omitempty"`
	Since []byte `json:"since,omitempty"`
}

func storeFailure(f event.Failure) *storedFailure {
	if f == (event.Failure{}) {
		return nil
	}
	return &storedFailure{[]byte(f.Error.Raw()), []byte(f.Since.Raw())}
}

func (f *storedFailure) failure() event.Failure {
	if f == nil {
		return event.Failure{}
	}
	return event.Failure{Error: trust.Untrusted(string(f.Error)), Since: trust.Untrusted(string(f.Since))}
}

// storedCursor is present when there is a position, which may be empty.
type storedCursor struct {
	Text   []byte `json:"text"`
	Number bool   `json:"number,omitempty"`
}

func storeCursor(c event.Cursor) *storedCursor {
	if !c.Valid {
		return nil
	}
	return &storedCursor{[]byte(c.Text.Raw()), c.Number}
}

func (c *storedCursor) cursor() event.Cursor {
	if c == nil {
		return event.Cursor{}
	}
	return event.Cursor{Text: trust.Untrusted(string(c.Text)), Valid: true, Number: c.Number}
}

type storedLease struct {
	ServerID      []byte        `json:"serverId,omitempty"`
	GrantedAt     timestamp     `json:"grantedAt"`
	RefreshBefore timestamp     `json:"refreshBefore"`
	Status        *storedStatus `json:"status,omitempty"`
}

type storedStatus struct {
	Active         bool          `json:"active,omitempty"`
	LastDeliveryAt []byte        `json:"lastDeliveryAt,omitempty"`
	LastError      []byte        `json:"lastError,omitempty"`
	FailedSince    []byte        `json:"failedSince,omitempty"`
	Throttled      bool          `json:"throttled,omitempty"`
	RetryAfter     time.Duration `json:"retryAfter,omitempty"`
}

type storedHook struct {
	URL      []byte    `json:"url,omitempty"`
	Path     []byte    `json:"path,omitempty"`
	Secret   []byte    `json:"secret,omitempty"` // sealed
	Scheme   []byte    `json:"scheme,omitempty"`
	Previous []byte    `json:"previous,omitempty"` // sealed
	Until    timestamp `json:"until"`
	Since    timestamp `json:"since,omitzero"`
	OldPath  []byte    `json:"oldPath,omitempty"`
	OldURL   []byte    `json:"oldUrl,omitempty"`
	OldUntil timestamp `json:"oldUntil,omitzero"`
}

// timestamp is a time in JSON that holds every year and every nanosecond.
type timestamp [2]int64

func stamp(t time.Time) timestamp { return timestamp{t.Unix(), int64(t.Nanosecond())} }

func (t timestamp) time() time.Time { return time.Unix(t[0], t[1]).UTC() }

// keptSub is a subscription in memory, with its secrets as they stand in the
// file: a secret is sealed once and not at every change of the subscription.
type keptSub struct {
	sub                      event.Subscription
	secret, previous, resume []byte // sealed
}

// void reports whether a sealed secret could not be opened.
func (k keptSub) void() bool {
	return k.secret != nil && k.sub.Hook.Secret.IsZero() || k.previous != nil && k.sub.Hook.Previous.IsZero()
}

// secrets are those of a subscription, in clear.
type secrets struct{ hook, previous, resume event.Secret }

func (k *keptSub) secrets() secrets {
	return secrets{k.sub.Hook.Secret, k.sub.Hook.Previous, k.sub.Resume}
}

// seal seals the secrets that differ from those before.
func (k *keptSub) seal(before secrets, s sealer) error {
	var err error
	sub := &k.sub
	if sub.Hook.Secret != before.hook {
		if k.secret, err = s.seal(secretPlace(sub.ID, "secret"), sub.Hook.Secret.Reveal()); err != nil {
			return err
		}
	}
	if sub.Hook.Previous != before.previous {
		if k.previous, err = s.seal(secretPlace(sub.ID, "previous"), sub.Hook.Previous.Reveal()); err != nil {
			return err
		}
	}
	if sub.Resume != before.resume {
		if k.resume, err = s.seal(secretPlace(sub.ID, "resume"), sub.Resume.Reveal()); err != nil {
			return err
		}
	}
	return nil
}

func secretPlace(id event.SubID, field string) string {
	return string(bucketSubs) + "\x00" + string(id) + "\x00" + field
}

func (k keptSub) encode() ([]byte, error) {
	s := &k.sub
	out := storedSub{
		V:       subVersion,
		Server:  []byte(s.Key.Server),
		Type:    []byte(s.Key.Type.Raw()),
		Args:    s.Key.Args,
		Shown:   s.Shown,
		Created: stamp(s.Created),

		Mode:      s.Mode,
		Failover:  s.Failover,
		Preferred: s.Preferred,

		MaxAge:        s.MaxAge,
		TTL:           s.TTL,
		Cursor:        storeCursor(s.Cursor),
		Gave:          s.Gave,
		LastSeen:      stamp(s.LastSeen),
		CompleteUntil: stamp(s.CompleteUntil),
		Paused:        s.Paused,

		Before:   storeCursor(s.Before),
		Newest:   []byte(s.Newest.Raw()),
		Proved:   storeCursor(s.Proved),
		ProvedAt: stamp(s.ProvedAt),
		Settled:  storeFailure(s.Settled),
		Proof:    []byte(s.Proof),

		State:    s.State,
		Evidence: []byte(s.Evidence),
		Error:    []byte(s.Error.Raw()),

		Lease: storedLease{
			ServerID:      []byte(s.Lease.ServerID.Raw()),
			GrantedAt:     stamp(s.Lease.GrantedAt),
			RefreshBefore: stamp(s.Lease.RefreshBefore),
		},
		Hook: storedHook{
			URL:      []byte(s.Hook.URL),
			Path:     []byte(s.Hook.Path),
			Secret:   k.secret,
			Scheme:   []byte(s.Hook.Scheme),
			Previous: k.previous,
			Until:    stamp(s.Hook.Until),
			Since:    stamp(s.Hook.Since),
			OldPath:  []byte(s.Hook.OldPath),
			OldURL:   []byte(s.Hook.OldURL),
			OldUntil: stamp(s.Hook.OldUntil),
		},
		Dialect:  []byte(s.Dialect),
		NoReplay: s.NoReplay,
		Resume:   k.resume,
		Printed:  s.Printed,
	}
	if st := s.Lease.Status; st != nil {
		out.Lease.Status = &storedStatus{
			Active:         st.Active,
			LastDeliveryAt: []byte(st.LastDeliveryAt.Raw()),
			LastError:      []byte(st.LastError.Raw()),
			FailedSince:    []byte(st.FailedSince.Raw()),
			Throttled:      st.Throttled,
			RetryAfter:     st.RetryAfter,
		}
	}
	return json.Marshal(out)
}

// decodeSub is the reverse of encode. Secrets that cannot be opened are zero.
func decodeSub(id event.SubID, value []byte, seal sealer) (keptSub, error) {
	var in storedSub
	if err := json.Unmarshal(value, &in); err != nil {
		return keptSub{}, err
	}
	if in.V != subVersion {
		return keptSub{}, fmt.Errorf("encoding version %d is not known", in.V)
	}
	text := func(b []byte) trust.Text { return trust.Untrusted(string(b)) }
	// An error means a lost key, which void reports; the secret is zero then.
	secret, _ := seal.open(secretPlace(id, "secret"), in.Hook.Secret)
	previous, _ := seal.open(secretPlace(id, "previous"), in.Hook.Previous)
	resume, _ := seal.open(secretPlace(id, "resume"), in.Resume)
	s := event.Subscription{
		ID:      id,
		Key:     event.Key{Server: string(in.Server), Type: text(in.Type), Args: in.Args},
		Shown:   in.Shown,
		Created: in.Created.time(),

		Mode:      in.Mode,
		Failover:  in.Failover,
		Preferred: in.Preferred,

		MaxAge:        in.MaxAge,
		TTL:           in.TTL,
		Cursor:        in.Cursor.cursor(),
		Gave:          in.Gave,
		LastSeen:      in.LastSeen.time(),
		CompleteUntil: in.CompleteUntil.time(),
		Paused:        in.Paused,

		Before:   in.Before.cursor(),
		Newest:   text(in.Newest),
		Proved:   in.Proved.cursor(),
		ProvedAt: in.ProvedAt.time(),
		Settled:  in.Settled.failure(),
		Proof:    event.Proof(in.Proof),

		State:    in.State,
		Evidence: string(in.Evidence),
		Error:    text(in.Error),

		Lease: event.Lease{
			ServerID:      text(in.Lease.ServerID),
			GrantedAt:     in.Lease.GrantedAt.time(),
			RefreshBefore: in.Lease.RefreshBefore.time(),
		},
		Hook: event.Hook{
			URL:      string(in.Hook.URL),
			Path:     string(in.Hook.Path),
			Secret:   event.NewSecret(secret),
			Scheme:   event.Scheme(in.Hook.Scheme),
			Previous: event.NewSecret(previous),
			Until:    in.Hook.Until.time(),
			Since:    in.Hook.Since.time(),
			OldPath:  string(in.Hook.OldPath),
			OldURL:   string(in.Hook.OldURL),
			OldUntil: in.Hook.OldUntil.time(),
		},
		Dialect:  string(in.Dialect),
		NoReplay: in.NoReplay,
		Resume:   event.NewSecret(resume),
		Printed:  in.Printed,
	}
	if st := in.Lease.Status; st != nil {
		s.Lease.Status = &event.DeliveryStatus{
			Active:         st.Active,
			LastDeliveryAt: text(st.LastDeliveryAt),
			LastError:      text(st.LastError),
			FailedSince:    text(st.FailedSince),
			Throttled:      st.Throttled,
			RetryAfter:     st.RetryAfter,
		}
	}
	return keptSub{sub: s, secret: in.Hook.Secret, previous: in.Hook.Previous, resume: in.Resume}, nil
}

// cloneSub returns a copy that shares nothing that can be changed.
func cloneSub(s event.Subscription) event.Subscription {
	s.Key.Args, s.Shown = slices.Clone(s.Key.Args), slices.Clone(s.Shown)
	if s.Lease.Status != nil {
		status := *s.Lease.Status
		s.Lease.Status = &status
	}
	return s
}

// subCache holds the committed subscriptions. The writer alone changes it.
type subCache struct {
	mu   sync.RWMutex
	byID map[event.SubID]keptSub
}

func loadSubs(tx *boltfile.Tx, seal sealer) (map[event.SubID]keptSub, error) {
	byID := map[event.SubID]keptSub{}
	err := tx.Bucket(bucketSubs).Each(func(k, v []byte) error {
		id := event.SubID(k)
		kept, err := decodeSub(id, v, seal)
		if err != nil {
			return fmt.Errorf("%w: subscription %s: %w", ErrDamaged, id, err)
		}
		byID[id] = kept
		return nil
	})
	return byID, err
}

func (c *subCache) get(id event.SubID) (keptSub, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.byID[id]
	return k, ok
}

// publish takes over what a commit has changed; nil means removed.
func (c *subCache) publish(changed map[event.SubID]*keptSub) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, k := range changed {
		if k == nil {
			delete(c.byID, id)
		} else {
			c.byID[id] = *k
		}
	}
}

func (c *subCache) anyVoid() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, k := range c.byID {
		if k.void() {
			return true
		}
	}
	return false
}

// Subscriptions implements [event.Store]. Those created at the same moment are
// ordered by their ids.
func (s *Store) Subscriptions() []event.Subscription {
	s.subs.mu.RLock()
	kept := slices.Collect(maps.Values(s.subs.byID))
	s.subs.mu.RUnlock()
	slices.SortFunc(kept, func(a, b keptSub) int {
		return cmp.Or(a.sub.Created.Compare(b.sub.Created), cmp.Compare(a.sub.ID, b.sub.ID))
	})
	subs := make([]event.Subscription, len(kept))
	for i, k := range kept {
		subs[i] = cloneSub(k.sub)
	}
	return subs
}

// Subscription implements [event.Store].
func (s *Store) Subscription(id event.SubID) (event.Subscription, error) {
	k, ok := s.subs.get(id)
	if !ok {
		return event.Subscription{}, fmt.Errorf("subscription %q: %w", id, event.ErrNotFound)
	}
	return cloneSub(k.sub), nil
}
