package tables

import (
	"encoding/json"
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/boltfile"
	"eventdeck/store/seal"
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
	Created Timestamp `json:"created"`

	Mode      event.Mode `json:"mode"`
	Failover  bool       `json:"failover,omitempty"`
	Preferred event.Mode `json:"preferred,omitempty"`

	MaxAge        time.Duration `json:"maxAge,omitempty"`
	TTL           time.Duration `json:"ttl,omitempty"`
	Ends          Timestamp     `json:"ends,omitzero"`
	Cursor        *storedCursor `json:"cursor,omitempty"`
	Gave          bool          `json:"gave,omitempty"`
	LastSeen      Timestamp     `json:"lastSeen"`
	CompleteUntil Timestamp     `json:"whole,omitzero"`
	Paused        bool          `json:"paused,omitempty"`

	Before   *storedCursor  `json:"before,omitempty"`
	Newest   []byte         `json:"newest,omitempty"`
	Proved   *storedCursor  `json:"proved,omitempty"`
	ProvedAt Timestamp      `json:"provedAt,omitzero"`
	After    []byte         `json:"after,omitempty"`
	Settled  *storedFailure `json:"settled,omitempty"`
	Proof    []byte         `json:"proof,omitempty"`
	Received Timestamp      `json:"received,omitzero"`

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
	return event.Failure{Error: text(f.Error), Since: text(f.Since)}
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
	return event.Cursor{Text: text(c.Text), Valid: true, Number: c.Number}
}

type storedLease struct {
	ServerID      []byte        `json:"serverId,omitempty"`
	GrantedAt     Timestamp     `json:"grantedAt"`
	RefreshBefore Timestamp     `json:"refreshBefore"`
	Status        *storedStatus `json:"status,omitempty"`
	Delivered     bool          `json:"delivered,omitempty"`
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
	Until    Timestamp `json:"until"`
	Since    Timestamp `json:"since,omitzero"`
	NewPath  []byte    `json:"newPath,omitempty"`
	NewURL   []byte    `json:"newUrl,omitempty"`
	Tried    Timestamp `json:"tried,omitzero"`
	OldPath  []byte    `json:"oldPath,omitempty"`
	OldURL   []byte    `json:"oldUrl,omitempty"`
	OldUntil Timestamp `json:"oldUntil,omitzero"`
}

func text(b []byte) trust.Text { return trust.Untrusted(string(b)) }

func storeLease(l *event.Lease) storedLease {
	out := storedLease{ServerID: []byte(l.ServerID.Raw()), GrantedAt: Stamp(l.GrantedAt), RefreshBefore: Stamp(l.RefreshBefore), Delivered: l.Delivered}
	if st := l.Status; st != nil {
		out.Status = &storedStatus{
			Active: st.Active, LastDeliveryAt: []byte(st.LastDeliveryAt.Raw()), LastError: []byte(st.LastError.Raw()),
			FailedSince: []byte(st.FailedSince.Raw()), Throttled: st.Throttled, RetryAfter: st.RetryAfter,
		}
	}
	return out
}

func (l *storedLease) lease() event.Lease {
	out := event.Lease{ServerID: text(l.ServerID), GrantedAt: l.GrantedAt.Time(), RefreshBefore: l.RefreshBefore.Time(), Delivered: l.Delivered}
	if st := l.Status; st != nil {
		out.Status = &event.DeliveryStatus{
			Active: st.Active, LastDeliveryAt: text(st.LastDeliveryAt), LastError: text(st.LastError),
			FailedSince: text(st.FailedSince), Throttled: st.Throttled, RetryAfter: st.RetryAfter,
		}
	}
	return out
}

// storeHook takes the secrets as they are sealed.
func storeHook(h *event.Hook, secret, previous []byte) storedHook {
	return storedHook{
		URL: []byte(h.URL), Path: []byte(h.Path), Secret: secret, Scheme: []byte(h.Scheme), Previous: previous,
		Until: Stamp(h.Until), Since: Stamp(h.Since), NewPath: []byte(h.NewPath), NewURL: []byte(h.NewURL), Tried: Stamp(h.Tried),
		OldPath: []byte(h.OldPath), OldURL: []byte(h.OldURL), OldUntil: Stamp(h.OldUntil),
	}
}

// hook returns the hook without its secrets.
func (h *storedHook) hook() event.Hook {
	return event.Hook{
		URL: string(h.URL), Path: string(h.Path), Scheme: event.Scheme(h.Scheme),
		Until: h.Until.Time(), Since: h.Since.Time(), NewPath: string(h.NewPath), NewURL: string(h.NewURL), Tried: h.Tried.Time(),
		OldPath: string(h.OldPath), OldURL: string(h.OldURL), OldUntil: h.OldUntil.Time(),
	}
}

// KeptSub is a subscription in memory, together with its secrets as they are sealed in the
// file: a secret is sealed once and not at every change of the subscription.
type KeptSub struct {
	Sub                      event.Subscription
	secret, previous, resume []byte // sealed
}

// Sealed reports whether the subscription has sealed secrets.
func (k *KeptSub) Sealed() bool { return k.secret != nil || k.previous != nil || k.resume != nil }

// Open opens the sealed secrets. One that cannot be opened stays zero.
func (k *KeptSub) Open(s seal.Sealer) {
	for _, f := range []struct {
		field  string
		sealed []byte
		secret *event.Secret
	}{{"secret", k.secret, &k.Sub.Hook.Secret}, {"previous", k.previous, &k.Sub.Hook.Previous}, {"resume", k.resume, &k.Sub.Resume}} {
		if text, err := s.Open(secretPlace(k.Sub.ID, f.field), f.sealed); err == nil && f.secret.IsZero() {
			*f.secret = event.NewSecret(text)
		}
	}
}

// Reseal seals the secrets with another key, and drops those that could not be opened.
//
// Errors: those of [seal.Sealer.Seal].
func (k *KeptSub) Reseal(s seal.Sealer) error {
	k.secret, k.previous, k.resume = nil, nil, nil
	return k.Seal(Secrets{}, s)
}

// Secrets are those of a subscription, in clear.
type Secrets struct{ hook, previous, resume event.Secret }

// Secrets returns the secrets before a change, for [KeptSub.Seal] after it.
func (k *KeptSub) Secrets() Secrets {
	return Secrets{k.Sub.Hook.Secret, k.Sub.Hook.Previous, k.Sub.Resume}
}

// Seal seals the secrets that differ from those in before. A token to resume a stream, which a
// server may give at any time, is not kept while there is no key.
//
// Errors: those of [seal.Sealer.Seal].
func (k *KeptSub) Seal(before Secrets, s seal.Sealer) error {
	var err error
	sub := &k.Sub
	if sub.Hook.Secret != before.hook {
		if k.secret, err = s.Seal(secretPlace(sub.ID, "secret"), sub.Hook.Secret.Reveal()); err != nil {
			return err
		}
	}
	if sub.Hook.Previous != before.previous {
		if k.previous, err = s.Seal(secretPlace(sub.ID, "previous"), sub.Hook.Previous.Reveal()); err != nil {
			return err
		}
	}
	if sub.Resume != before.resume && s.Locked() {
		k.resume = nil
	} else if sub.Resume != before.resume {
		if k.resume, err = s.Seal(secretPlace(sub.ID, "resume"), sub.Resume.Reveal()); err != nil {
			return err
		}
	}
	return nil
}

func secretPlace(id event.SubID, field string) string {
	return string(Subs) + "\x00" + string(id) + "\x00" + field
}

// Encode returns the stored form.
func (k KeptSub) Encode() ([]byte, error) {
	s := &k.Sub
	out := storedSub{
		V:       subVersion,
		Server:  []byte(s.Key.Server),
		Type:    []byte(s.Key.Type.Raw()),
		Args:    s.Key.Args,
		Shown:   s.Shown,
		Created: Stamp(s.Created),

		Mode:      s.Mode,
		Failover:  s.Failover,
		Preferred: s.Preferred,

		MaxAge:        s.MaxAge,
		TTL:           s.TTL,
		Ends:          Stamp(s.Ends),
		Cursor:        storeCursor(s.Cursor),
		Gave:          s.Gave,
		LastSeen:      Stamp(s.LastSeen),
		CompleteUntil: Stamp(s.CompleteUntil),
		Paused:        s.Paused,

		Before:   storeCursor(s.Before),
		Newest:   []byte(s.Newest.Raw()),
		Proved:   storeCursor(s.Proved),
		ProvedAt: Stamp(s.ProvedAt),
		After:    []byte(s.After.Raw()),
		Settled:  storeFailure(s.Settled),
		Proof:    []byte(s.Proof),
		Received: Stamp(s.Received),

		State:    s.State,
		Evidence: []byte(s.Evidence),
		Error:    []byte(s.Error.Raw()),

		Lease:    storeLease(&s.Lease),
		Hook:     storeHook(&s.Hook, k.secret, k.previous),
		Dialect:  []byte(s.Dialect),
		NoReplay: s.NoReplay,
		Resume:   k.resume,
		Printed:  s.Printed,
	}
	return json.Marshal(out)
}

// ReadSub is the reverse of [KeptSub.Encode]. The secrets are zero until [KeptSub.Open].
//
// Errors: those of encoding/json; a version that this program does not know.
func ReadSub(id event.SubID, value []byte) (KeptSub, error) {
	var in storedSub
	if err := json.Unmarshal(value, &in); err != nil {
		return KeptSub{}, err
	}
	if in.V != subVersion {
		return KeptSub{}, fmt.Errorf("encoding version %d is not known", in.V)
	}
	s := event.Subscription{
		ID:      id,
		Key:     event.Key{Server: string(in.Server), Type: text(in.Type), Args: in.Args},
		Shown:   in.Shown,
		Created: in.Created.Time(),

		Mode:      in.Mode,
		Failover:  in.Failover,
		Preferred: in.Preferred,

		MaxAge:        in.MaxAge,
		TTL:           in.TTL,
		Ends:          in.Ends.Time(),
		Cursor:        in.Cursor.cursor(),
		Gave:          in.Gave,
		LastSeen:      in.LastSeen.Time(),
		CompleteUntil: in.CompleteUntil.Time(),
		Paused:        in.Paused,

		Before:   in.Before.cursor(),
		Newest:   text(in.Newest),
		Proved:   in.Proved.cursor(),
		ProvedAt: in.ProvedAt.Time(),
		After:    text(in.After),
		Settled:  in.Settled.failure(),
		Proof:    event.Proof(in.Proof),
		Received: in.Received.Time(),

		State:    in.State,
		Evidence: string(in.Evidence),
		Error:    text(in.Error),

		Lease:    in.Lease.lease(),
		Hook:     in.Hook.hook(),
		Dialect:  string(in.Dialect),
		NoReplay: in.NoReplay,
		Printed:  in.Printed,
	}
	return KeptSub{Sub: s, secret: in.Hook.Secret, previous: in.Hook.Previous, resume: in.Resume}, nil
}

// Paused returns the stored form of a subscription that is paused, and is the same otherwise. The
// key of its secrets is not needed.
//
// Errors: those of [ReadSub] and of encoding/json.
func Paused(id event.SubID, value []byte) ([]byte, error) {
	kept, err := ReadSub(id, value)
	if err != nil {
		return nil, err
	}
	kept.Sub.Paused = true
	return kept.Encode()
}

// SubChange is the part of a stored entry of the audit log from which a recovery knows which
// subscriptions there were. Texts are bytes, since JSON strings cannot hold every text.
type SubChange struct {
	Sub     event.SubID `json:"sub,omitempty"`
	Server  []byte      `json:"server,omitempty"`
	Type    []byte      `json:"type,omitempty"`
	Made    bool        `json:"made,omitempty"`
	Removed bool        `json:"removed,omitempty"`
}

// Key returns the key of the subscription, without its arguments.
func (c SubChange) Key() event.Key { return event.Key{Server: string(c.Server), Type: text(c.Type)} }

// LoadSubs reads all subscriptions.
//
// Error: [event.ErrDamaged].
func LoadSubs(tx *boltfile.Tx, sealer seal.Sealer) (map[event.SubID]KeptSub, error) {
	byID := map[event.SubID]KeptSub{}
	err := tx.Bucket(Subs).Each(func(k, v []byte) error {
		id := event.SubID(k)
		kept, err := ReadSub(id, v)
		if err != nil {
			return fmt.Errorf("%w: subscription %s: %w", event.ErrDamaged, id, err)
		}
		kept.Open(sealer)
		byID[id] = kept
		return nil
	})
	return byID, err
}
