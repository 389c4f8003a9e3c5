package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// RemoteSubscription is a subscription that a server holds for this host.
type RemoteSubscription struct {
	ServerID  trust.Text // for [Actor.EndRemote]: the server's id, or the callback address where it gave none
	Type      trust.Text
	Detail    trust.Text  // what is known of it, for the operator
	Mine      event.SubID // the subscription of this host that it belongs to; "": none
	Duplicate bool        // another one belongs to the same subscription
	Orphan    bool        // it ended here, and the server has not confirmed the end
}

// ErrInUse: the remote subscription belongs to a subscription that runs here.
var ErrInUse = errors.New("in use")

// The setting under which orphans are kept, and how many.
const (
	settingOrphans = "host.orphans"
	maxOrphans     = 200
)

// orphan is a lease that ended here and whose end the server has not confirmed. Untrusted text
// is bytes, since JSON strings cannot hold every text.
type orphan struct {
	Sub     event.SubID `json:"sub"`
	Server  []byte      `json:"server"`
	Type    []byte      `json:"type"`
	Args    []byte      `json:"args"`
	Shown   []byte      `json:"shown,omitempty"` // as of [event.Subscription]
	Dialect string      `json:"dialect,omitempty"`
	Mode    event.Mode  `json:"mode"`
	URL     []byte      `json:"url,omitempty"`
	ID      []byte      `json:"id,omitempty"`
	At      time.Time   `json:"at"`
	Until   time.Time   `json:"until,omitzero"` // zero: not known
}

// remoteID returns the id by which an orphan is ended: the server's, else the callback address.
func (o orphan) remoteID() trust.Text {
	if len(o.ID) > 0 {
		return trust.Untrusted(string(o.ID))
	}
	return trust.Untrusted(string(o.URL))
}

// subscription returns the subscription with everything that ending it on the server needs.
func (o orphan) subscription() event.Subscription {
	return event.Subscription{
		ID: o.Sub, Mode: o.Mode, Dialect: o.Dialect,
		Key:   event.Key{Server: string(o.Server), Type: trust.Untrusted(string(o.Type)), Args: o.Args},
		Lease: event.Lease{ServerID: trust.Untrusted(string(o.ID))},
		Hook:  event.Hook{URL: string(o.URL)},
	}
}

// loadOrphans reads the orphans of earlier runs.
func loadOrphans(store event.Store) ([]orphan, error) {
	text, err := store.Setting(settingOrphans)
	if errors.Is(err, event.ErrNotFound) {
		return nil, nil
	}
	var out []orphan
	if err == nil {
		err = json.Unmarshal([]byte(text), &out)
	}
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", settingOrphans, err)
	}
	return out, nil
}

// orphan remembers a lease whose end the server did not confirm.
func (subs *subscriptions) orphan(ctx context.Context, sub event.Subscription) {
	o := orphan{
		Sub: sub.ID, Server: []byte(sub.Key.Server), Type: []byte(sub.Key.Type.Raw()), Args: sub.Key.Args, Shown: sub.Shown,
		Dialect: sub.Dialect, Mode: sub.Mode, URL: []byte(sub.Hook.URL), ID: []byte(sub.Lease.ServerID.Raw()),
		At: subs.opts.Now().UTC(), Until: sub.Lease.RefreshBefore,
	}
	if o.remoteID().IsZero() {
		return // it was never subscribed to
	}
	subs.changeOrphans(ctx, func(all []orphan) []orphan {
		all = append(slices.DeleteFunc(all, func(have orphan) bool { return have.Sub == o.Sub && have.remoteID() == o.remoteID() }), o)
		return all[max(0, len(all)-maxOrphans):]
	})
}

func (subs *subscriptions) changeOrphans(ctx context.Context, change func([]orphan) []orphan) {
	subs.mu.Lock()
	subs.orphans = change(slices.Clone(subs.orphans))
	text, err := json.Marshal(subs.orphans)
	subs.mu.Unlock()
	if err == nil {
		err = subs.opts.Store.SetSetting(context.WithoutCancel(ctx), settingOrphans, string(text))
	}
	if err != nil {
		subs.opts.Log.Warn("orphans were not stored", "err", err)
	}
}

// orphansOf returns the orphans of a server, and forgets those whose lease has ended or whose
// subscription runs again.
func (subs *subscriptions) orphansOf(ctx context.Context, server string) []orphan {
	now := subs.opts.Now()
	gone := func(o orphan) bool {
		if !o.Until.IsZero() && o.Until.Before(now) {
			return true
		}
		sub, err := subs.opts.Store.Subscription(o.Sub)
		return err == nil && !sub.Paused && !sub.State.Over() && sub.Mode == o.Mode && sub.Hook.URL == string(o.URL)
	}
	subs.mu.Lock()
	all := slices.Clone(subs.orphans)
	subs.mu.Unlock()
	if slices.ContainsFunc(all, gone) {
		subs.changeOrphans(ctx, func(all []orphan) []orphan { return slices.DeleteFunc(all, gone) })
	}
	return slices.DeleteFunc(all, func(o orphan) bool { return string(o.Server) != server || gone(o) })
}

// releaseOrphans ends the orphans of a server that is connected again. After a failure it is tried
// again at the next connection.
func (subs *subscriptions) releaseOrphans(ctx context.Context, s *server) {
	for _, o := range subs.orphansOf(ctx, s.spec.Name) {
		limited, cancel := context.WithTimeout(ctx, releaseWithin)
		err := subs.releaseOrphan(limited, s, o)
		cancel()
		if ctx.Err() != nil {
			return
		}
		entry := subs.auditEntry(event.ActorHost, "orphaned lease ended", event.Subscription{ID: o.Sub, Key: o.subscription().Key}, "")
		if err != nil {
			entry.Result = "failed: " + err.Error()
		}
		subs.audit(ctx, entry)
	}
}

// releaseOrphan ends an orphan on its server, and forgets it. It holds the server's lock, as a
// subscription that begins meanwhile may be granted the same lease.
func (subs *subscriptions) releaseOrphan(ctx context.Context, s *server, o orphan) error {
	server := string(o.Server)
	unlock, err := subs.servers.lock(ctx, server)
	if err != nil {
		return err
	}
	defer unlock()
	still := slices.ContainsFunc(subs.orphansOf(ctx, server), func(have orphan) bool { return have.remoteID() == o.remoteID() })
	if !still {
		return nil
	}
	if err := delivery.Release(ctx, s, o.subscription()); err != nil {
		return err
	}
	subs.forgetOrphan(ctx, o)
	return nil
}

func (subs *subscriptions) forgetOrphan(ctx context.Context, o orphan) {
	subs.changeOrphans(ctx, func(all []orphan) []orphan {
		return slices.DeleteFunc(all, func(have orphan) bool {
			return string(have.Server) == string(o.Server) && have.remoteID() == o.remoteID()
		})
	})
}

// Remote implements [API].
func (subs *subscriptions) Remote(ctx context.Context, server string) ([]RemoteSubscription, error) {
	s, err := subs.servers.server(server)
	if err != nil {
		return nil, err
	}
	r := remotes{subs: subs, server: server, seen: map[trust.Text]bool{}, serves: map[event.SubID]bool{}}
	d, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	if lister, ok := d.(dialect.Lister); ok {
		listed, err := lister.Remote(ctx)
		if err != nil {
			return nil, explain(err)
		}
		for _, one := range listed {
			r.listed(one)
		}
	}
	for _, sub := range subs.storedOf(server) {
		if atServer(sub) && !sub.Paused && !sub.State.Over() && sub.Lease.ServerID != (trust.Text{}) {
			r.granted(sub)
		}
	}
	for _, o := range subs.orphansOf(ctx, server) {
		r.orphaned(o)
	}
	return r.out, nil
}

// remotes collects the subscriptions that a server holds, each once, from its own list, the
// leases that it granted, and orphans.
type remotes struct {
	subs   *subscriptions
	server string
	out    []RemoteSubscription
	seen   map[trust.Text]bool
	serves map[event.SubID]bool // subscriptions of this host that one of these belongs to
}

func (r *remotes) add(s RemoteSubscription) {
	if r.seen[s.ServerID] {
		return
	}
	r.seen[s.ServerID] = true
	if s.Mine != "" {
		s.Duplicate = r.serves[s.Mine]
		r.serves[s.Mine] = true
	}
	r.out = append(r.out, s)
}

// listed adds an entry of the server's list.
func (r *remotes) listed(l dialect.Listed) {
	s := RemoteSubscription{ServerID: l.ID, Detail: l.Detail}
	if len(l.Types) > 0 {
		s.Type = l.Types[0]
	}
	if !l.Status.IsZero() {
		s.Detail = trust.Untrusted(fmt.Sprintf("%v %v", l.Status, l.Detail))
	}
	for _, sub := range r.subs.storedOf(r.server) {
		byAddress := !l.Callback.IsZero() && l.Callback.Raw() == sub.Hook.URL
		if sub.Lease.ServerID == l.ID || byAddress {
			s.Mine = sub.ID
		}
	}
	r.add(s)
}

// granted adds a lease that the server granted.
func (r *remotes) granted(sub event.Subscription) {
	detail := "no expiry was granted"
	if !sub.Lease.RefreshBefore.IsZero() {
		detail = "granted until " + sub.Lease.RefreshBefore.UTC().Format(time.RFC3339)
	}
	r.add(RemoteSubscription{ServerID: sub.Lease.ServerID, Type: sub.Key.Type, Detail: trust.Untrusted(detail), Mine: sub.ID})
}

// orphaned adds an orphan.
func (r *remotes) orphaned(o orphan) {
	detail := "ended here at " + o.At.Format(time.RFC3339) + ", not confirmed by the server"
	if !o.Until.IsZero() {
		detail += "; its lease ends at " + o.Until.UTC().Format(time.RFC3339)
	}
	r.add(RemoteSubscription{ServerID: o.remoteID(), Type: trust.Untrusted(string(o.Type)), Detail: trust.Untrusted(detail), Orphan: true})
}

// EndRemote implements [API].
func (subs *subscriptions) EndRemote(ctx context.Context, server string, id trust.Text) error {
	entry := subs.serverEntry("end remote subscription", server)
	entry.Detail = id
	err := subs.endRemote(ctx, server, id)
	if err != nil {
		entry.Result = "failed: " + err.Error()
	}
	subs.audit(context.WithoutCancel(ctx), entry)
	return explain(err)
}

func (subs *subscriptions) endRemote(ctx context.Context, server string, id trust.Text) error {
	s, err := subs.servers.server(server)
	if err != nil {
		return err
	}
	for _, sub := range subs.storedOf(server) {
		if atServer(sub) && sub.Lease.ServerID == id && subs.running(sub.ID) != nil {
			return fmt.Errorf("%w: it serves subscription %s here; unsubscribe or pause that", ErrInUse, sub.ID)
		}
	}
	for _, o := range subs.orphansOf(ctx, server) {
		if o.remoteID() != id {
			continue
		}
		if err := delivery.Release(ctx, s, o.subscription()); err != nil {
			return err
		}
		subs.forgetOrphan(ctx, o)
		return nil
	}
	d, err := s.session(ctx)
	if err != nil {
		return err
	}
	lister, ok := d.(dialect.Lister)
	if !ok {
		return fmt.Errorf("subscription %v at %s: %w", id, server, event.ErrNotFound)
	}
	return lister.Release(ctx, id)
}
