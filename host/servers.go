package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
)

// errReconnect ends a connection that is replaced by a new one.
var errReconnect = errors.New("reconnecting on demand")

// Reconnect implements [API].
func (h *Host) Reconnect(name string) error {
	s, err := h.server(name)
	if err != nil {
		return err
	}
	if s.spec.Fault != nil {
		return fmt.Errorf("server %s: %w", name, s.spec.Fault)
	}
	signal(s.reconnect)
	h.audit(h.ctx, h.serverEntry("reconnect", name))
	return nil
}

// serverEntry returns the entry of the audit log for an act of the operator on a server.
func (h *Host) serverEntry(action, name string) event.AuditEntry {
	return h.auditEntry(event.ActorOperator, action, event.Subscription{Key: event.Key{Server: name}}, "")
}

// auditAdded notes in the audit log that the operator added a server, or changed a known one,
// with the part of its address that holds no secret.
func (h *Host) auditAdded(spec event.Server, known bool) {
	e := h.serverEntry("add server", spec.Name)
	if known {
		e.Action = "change server"
	}
	where := spec.Command
	if u, err := url.Parse(spec.URL); spec.URL != "" && err == nil {
		where = u.Scheme + "://" + u.Host
	}
	e.Detail = trust.Untrusted(where)
	if spec.Fault != nil {
		e.Result, e.Detail = "failed", trust.OfError(spec.Fault)
	}
	h.audit(h.ctx, e)
}

// logOf returns a log whose lines name the server of a subscription.
func (h *Host) logOf(sub event.Subscription) *slog.Logger {
	return h.opts.Log.With("server", sub.Key.Server)
}

// RemoveServer implements [API].
func (h *Host) RemoveServer(ctx context.Context, name string) error {
	mu := h.serverLock(name)
	if err := mu.lock(ctx); err != nil {
		return err
	}
	defer mu.unlock()
	s, err := h.server(name)
	if err != nil {
		return err
	}
	for _, sub := range h.opts.Store.Subscriptions() {
		if sub.Key.Server != name {
			continue
		}
		if err := h.endSub(ctx, sub.ID); err != nil {
			return fmt.Errorf("server %s stays: subscription %s could not be ended: %w", name, sub.ID, err)
		}
	}
	h.mu.Lock()
	h.servers = slices.DeleteFunc(slices.Clone(h.servers), func(have *server) bool { return have == s })
	h.mu.Unlock()
	s.cancel()
	<-s.done
	h.meter.forgetServer(name)
	h.audit(ctx, h.serverEntry("remove server", name))
	return nil
}

// TestServer implements [API].
func (h *Host) TestServer(ctx context.Context, spec event.Server) (ServerView, error) {
	s := newServer(h, spec)
	v := s.view
	fail := func(reach Reach, err error) (ServerView, error) {
		v.Reach, v.Err = reach, err.Error()
		return v, err
	}
	if spec.Fault != nil {
		return fail(ReachFault, spec.Fault)
	}
	sess, err := s.dial(ctx)
	if s.wantsSignIn(ctx, err) {
		return fail(ReachSignIn, s.connectError(fmt.Errorf("%w: %w", ErrSignIn, err)))
	}
	if err != nil {
		return fail(reachOf(err), s.connectError(err))
	}
	defer sess.Close()
	v.setInfo(sess.Info(), h.opts.Now())
	types, bad, err := dialect.For(sess, s.dialectOptions()).List(ctx)
	v.Types, v.BadTypes, v.BadWhy = types, bad.Count, bad.Why
	if err != nil {
		v.TypesErr = trust.Line(trust.OfError(err)).Plain()
	}
	if err != nil && !errors.Is(err, dialect.ErrPartial) {
		return v, explain(err)
	}
	v.TypesKnown = true
	return v, nil
}

// setInfo takes over what the server said about itself when it connected.
func (v *ServerView) setInfo(info session.Info, now time.Time) {
	v.Reach, v.Since, v.Attempt, v.NextTry, v.Err = ReachReady, now, 0, time.Time{}, ""
	v.Reason = ""
	v.Era, v.Version, v.Transport, v.HTTP = string(info.Era), info.Version, string(info.Transport), info.HTTP
	v.Title, v.Release = info.ServerName, info.ServerVersion
	v.Profile = string(info.Profile)
}

// reachOf returns the state of a server after a failure to connect.
func reachOf(err error) Reach {
	switch {
	case session.Denied(err), errors.Is(err, session.ErrFraming), errors.Is(err, session.ErrVersion):
		return ReachRefused
	case errors.Is(err, session.ErrServer):
		return ReachFault
	}
	return ReachBackoff
}

// connectError wraps a failure to connect in [ErrRefused] or [ErrUnreachable].
func (s *server) connectError(err error) error {
	if session.Denied(err) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrUnreachable, s.view.Address, err)
}
