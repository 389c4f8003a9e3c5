package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// The setting under which the receiver's address is kept, so that leases go on
// after a restart.
const settingReceiver = "receiver.address"

// How long the path of an ended subscription is answered as "come again"
// (contracts, receiver).
const endedMemory = 24 * time.Hour

// How long Close waits for deliveries that have begun.
const finishWithin = 5 * time.Second

var errReceiverClosed = errors.New("the receiver is closed")

// hooks is the host's side of the receiver: it starts it when the first webhook
// subscription needs it, knows the paths, and commits what arrives. It
// implements [receiver.Book] and [receiver.Sink].
type hooks struct {
	host *Host

	starting sync.Mutex // serializes address, which is slow; mu is never held that long

	mu      sync.RWMutex
	server  *receiver.Server
	base    string // what paths are appended to
	closed  bool
	paths   map[string]event.SubID
	removed map[string]bool // paths of subscriptions that the operator removed
	ended   map[string]time.Time

	keys serverKeys

	refusals   chan event.Refusal // bounded; a flood of bad requests is only counted
	uncounted  atomic.Uint64
	leftOut    uint64                // of uncounted, not told yet; of keepRefusals' goroutine
	challenges chan event.AuditEntry // answered ones, bounded likewise
	turned     chan struct{}         // holds a value when deliveries may be refused, or taken, from now on
	damper     damper
}

func (k *hooks) init(h *Host) {
	k.host = h
	k.paths = map[string]event.SubID{}
	k.removed = map[string]bool{}
	k.ended = map[string]time.Time{}
	k.keys.init(h)
	k.refusals = make(chan event.Refusal, refusalsWaiting)
	k.challenges = make(chan event.AuditEntry, 64)
	k.turned = make(chan struct{}, 1)
	h.wg.Go(k.keepRefusals)
	for _, e := range h.opts.Store.EndedHooks() {
		if e.Removed {
			k.removed[e.Path] = true
		}
	}
	for _, sub := range h.opts.Store.Subscriptions() {
		for _, path := range []string{sub.Hook.Path, sub.Hook.OldPath} {
			if path != "" {
				k.paths[path] = sub.ID
			}
		}
	}
}

func (k *hooks) know(path string, id event.SubID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.paths[path] = id
	delete(k.ended, path) // it begins anew
}

func (k *hooks) forget(path string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.paths, path)
	k.removed[path] = true
}

// callback returns the complete address of a path.
func (k *hooks) callback(path string, id event.SubID) (string, error) {
	k.know(path, id)
	k.keepKeys(id)
	base, err := k.address()
	if err != nil {
		return "", err
	}
	return base + path, nil
}

func (k *hooks) listening() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.server == nil {
		return ""
	}
	return k.server.Addr()
}

// ready makes sure that deliveries of a server can be taken. What keeps the receiver
// from listening, or keys from being read, does not go away by subscribing again.
func (k *hooks) ready(ctx context.Context, server string) error {
	if _, err := k.address(); err != nil {
		return err
	}
	s, err := k.host.server(server)
	if err != nil {
		return err
	}
	return k.keys.ensure(ctx, s.spec)
}

// address starts the receiver if it does not run yet, and returns what the paths
// are appended to.
func (k *hooks) address() (string, error) {
	k.starting.Lock()
	defer k.starting.Unlock()
	k.mu.Lock()
	server, base, closed := k.server, k.base, k.closed
	k.mu.Unlock()
	if closed {
		return "", errReceiverClosed
	}
	if server != nil {
		return base, nil
	}
	server, err := k.serve()
	if err != nil {
		return "", fmt.Errorf("webhook receiver: %w", err)
	}
	base = k.baseOf(server)
	k.mu.Lock()
	closed = k.closed
	if !closed {
		k.server, k.base = server, base
	}
	k.mu.Unlock()
	if closed {
		return "", errors.Join(errReceiverClosed, shutdown(server))
	}
	return base, nil
}

// expected returns what paths will most likely be appended to, without starting
// the receiver.
func (k *hooks) expected() string {
	k.mu.Lock()
	base := k.base
	k.mu.Unlock()
	o := k.host.opts
	switch {
	case base != "":
		return base
	case o.CallbackURL != "":
		return strings.TrimSuffix(o.CallbackURL, "/")
	}
	address := o.ListenAddr
	if saved, err := o.Store.Setting(settingReceiver); address == "" && err == nil {
		address = saved
	}
	if address == "" {
		address = "127.0.0.1:…"
	}
	if o.PlainHTTP {
		return "http://" + address
	}
	return "https://" + address
}

// serve starts a receiver.
func (k *hooks) serve() (*receiver.Server, error) {
	o := k.host.opts
	ro := receiver.Options{
		Book: k, Sink: k, Refused: k.refused, Challenged: k.challenged,
		UnknownKey: k.unknownKey, TooLarge: k.tooLarge,
		AllowPlain: o.PlainHTTP,
		Bind:       o.Network.Listen,
		Limits:     receiver.Limits{Connections: o.HookConnections, Bad: badRate(o.HookBadRate)},
		Now:        o.Now, Log: o.Log,
	}
	if u, err := url.Parse(o.CallbackURL); err == nil && u.Hostname() != "" {
		ro.Hosts, ro.Prefix = []string{u.Hostname()}, strings.TrimSuffix(u.EscapedPath(), "/")
	}
	if !o.PlainHTTP {
		ca, err := openCA(o.CADir, o.Now)
		if err != nil {
			return nil, err
		}
		ro.Certificate = ca.GetCertificate
	}
	server, err := receiver.New(ro)
	if err != nil {
		return nil, err
	}
	if err := k.listen(server); err != nil {
		return nil, errors.Join(err, shutdown(server))
	}
	return server, server.Start(context.WithoutCancel(k.host.ctx))
}

// baseOf returns the address under which senders reach the receiver.
func (k *hooks) baseOf(server *receiver.Server) string {
	switch o := k.host.opts; {
	case o.CallbackURL != "":
		return strings.TrimSuffix(o.CallbackURL, "/")
	case o.PlainHTTP:
		return "http://" + server.Addr()
	}
	return "https://" + server.Addr()
}

// listen takes the configured address, else that of the last run, else a free port.
func (k *hooks) listen(server *receiver.Server) error {
	o := k.host.opts
	if o.ListenAddr != "" {
		return server.Listen(o.ListenAddr)
	}
	saved, err := o.Store.Setting(settingReceiver)
	if err == nil && saved != "" {
		err = server.Listen(saved)
		if err == nil {
			return nil
		}
		o.Log.Warn("the receiver's address of the last run is taken; callbacks get a new one", "address", saved, "err", err)
	}
	if err := server.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(server.Addr()); err != nil {
		return err
	}
	return o.Store.SetSetting(k.host.ctx, settingReceiver, server.Addr())
}

func (k *hooks) close() error {
	k.mu.Lock()
	server := k.server
	k.closed = true
	k.mu.Unlock()
	if server == nil {
		return nil
	}
	return shutdown(server)
}

func shutdown(server *receiver.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), finishWithin)
	defer cancel()
	return server.Shutdown(ctx)
}

// Lookup implements [receiver.Book].
func (k *hooks) Lookup(path string) (receiver.Entry, receiver.PathState) {
	k.mu.RLock()
	id, known := k.paths[path]
	removed := k.removed[path]
	k.mu.RUnlock()
	if !known {
		if removed {
			return receiver.Entry{}, receiver.PathRemoved
		}
		return receiver.Entry{}, receiver.PathUnknown
	}
	sub, err := k.host.opts.Store.Subscription(id)
	if err != nil || sub.Hook.Path != path && sub.Hook.OldPath != path {
		return receiver.Entry{}, receiver.PathUnknown
	}
	old := sub.Hook.Path != path
	if until := sub.Hook.OldUntil; old && !until.IsZero() && k.host.opts.Now().After(until) {
		return receiver.Entry{}, receiver.PathRemoved
	}
	entry := receiver.Entry{Sub: id, Old: old, Current: sub.Hook.Secret, Previous: sub.Hook.Previous, PreviousUntil: sub.Hook.Until, Scheme: sub.Hook.Scheme}
	if kind := dialect.KindOf(sub.Dialect); kind.Read != nil {
		entry.Foreign = true
		entry.Awaited = kind.ServerSecret && sub.Hook.Secret.IsZero() && sub.Hook.Scheme != event.SchemeNone
	}
	if s, err := k.host.server(sub.Key.Server); err == nil && s.spec.RequireServerKey {
		entry.KeyRequired = true
		entry.Keys, entry.KeysFresh = k.keys.known(s.spec)
	}
	if over(sub) {
		if k.host.opts.Now().Sub(k.endedAt(path)) < endedMemory {
			return entry, receiver.PathEnded
		}
		return receiver.Entry{}, receiver.PathUnknown
	}
	if l := k.host.runningSub(id); l != nil && !old {
		entry.InFlight = l.runner.InFlight()
	}
	return entry, receiver.PathKnown
}

// endedAt returns when the subscription of a path ended, zero if that is forgotten.
func (k *hooks) endedAt(path string) time.Time {
	k.mu.RLock()
	at, known := k.ended[path]
	k.mu.RUnlock()
	if known {
		return at
	}
	for _, e := range k.host.opts.Store.EndedHooks() {
		if e.Path == path {
			k.mu.Lock()
			k.ended[path] = e.At // the store is not asked again for each delivery
			k.mu.Unlock()
			return e.At
		}
	}
	return time.Time{}
}

// Deliver implements [receiver.Sink].
func (k *hooks) Deliver(ctx context.Context, d receiver.Delivery) error {
	l := k.host.runningSub(d.Sub)
	if l == nil {
		return fmt.Errorf("%w: subscription %s is not running", receiver.ErrBusy, d.Sub)
	}
	kind := delivery.DeliveredEvent
	switch d.Type {
	case receiver.TypeGap:
		kind = delivery.DeliveredGap
	case receiver.TypeTerminated:
		kind, d.Body = delivery.DeliveredTerminated, k.host.secrets.JSON(d.Body)
	case receiver.TypeMalformed:
		kind = delivery.DeliveredMalformed
	case receiver.TypeControl:
		k.host.acceptedDelivery(d.Sub)
		kind := trust.Line(wire.Clip(k.host.secrets.Text(d.Control))).Plain()
		l.runner.Remark(ctx, "control "+kind, "the server sent a signed message of type \""+kind+"\", which is not known here; nothing was done")
		return nil
	}
	err := l.runner.Deliver(ctx, delivery.Delivered{
		Kind: kind, WebhookID: d.WebhookID, ServerID: d.ServerID, Body: d.Body, Refused: k.host.secrets.Error(d.Refused), Previous: d.UsedPrevious, Old: d.Old,
	})
	if err == nil || errors.Is(err, delivery.ErrChanged) {
		k.host.acceptedDelivery(d.Sub)
	}
	switch {
	case errors.Is(err, delivery.ErrRejected):
		return receiver.ErrRejected
	case errors.Is(err, delivery.ErrChanged):
		return receiver.ErrChanged
	}
	return err
}

func openCA(dir string, now func() time.Time) (*receiver.CA, error) {
	if dir == "" {
		d, err := receiver.DefaultCADir()
		if err != nil {
			return nil, err
		}
		dir = d
	}
	return receiver.OpenCA(dir, now)
}
