// Package present is for showing the screen to an audience: it masks personal and secret values of
// the host, has captions that explain what happens, and puts room between rows.
package present

import (
	"context"
	"errors"
	"slices"
	"strings"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/redact"
)

// Reader is a host with masked values: the screen never gets what is personal or secret, so that no
// pane, copy or export has it. [redact.Audience] says what that is. The host keeps everything.
type Reader struct {
	host.Reader
	log *eventlog.Log
	set *redact.Set
}

// Actor refuses requests with masked values.
type Actor struct {
	host.Actor
	set *redact.Set
}

// ErrMasked says that a subscription or a rule has masked values.
var ErrMasked = errors.New("values in it are masked on this screen (--present); make it without --present")

// Mask returns both parts of a host with masked values.
func Mask(r host.Reader, a host.Actor) (*Reader, *Actor) {
	set := redact.Audience()
	p := &Reader{Reader: r, set: set}
	p.log = r.Log().Mapped(p.record)
	return p, &Actor{a, set}
}

func (p *Reader) record(r event.Record) event.Record {
	r.Raw, r.Data, r.Meta = p.set.JSON(r.Raw), p.set.JSON(r.Data), p.set.JSON(r.Meta)
	r.Reason = p.set.Text(r.Reason)
	if r.State != nil {
		s := *r.State
		s.Evidence, s.Error = p.set.String(s.Evidence), p.set.Text(s.Error)
		r.State = &s
	}
	return r
}

// Log implements [host.Reader].
func (p *Reader) Log() *eventlog.Log { return p.log }

// Wire implements [host.Reader].
func (p *Reader) Wire() *eventlog.Ring[host.WireFrame] {
	return p.Reader.Wire().Mapped(func(f host.WireFrame) host.WireFrame {
		f.Frame = p.set.Text(f.Frame)
		return f
	})
}

// AppLog implements [host.Reader].
func (p *Reader) AppLog() *eventlog.Ring[host.LogLine] {
	return p.Reader.AppLog().Mapped(func(l host.LogLine) host.LogLine {
		l.Text = p.set.String(l.Text)
		return l
	})
}

// Audit implements [host.Reader].
func (p *Reader) Audit() *eventlog.Audit {
	return p.Reader.Audit().Mapped(func(e event.AuditEntry) event.AuditEntry {
		e.Detail = p.set.Text(e.Detail)
		return e
	})
}

// Snapshot implements [host.Reader].
func (p *Reader) Snapshot() host.Snapshot {
	s := p.Reader.Snapshot()
	servers, subs := make([]host.ServerView, len(s.Servers)), make([]host.SubscriptionView, len(s.Subs))
	for i, v := range s.Servers {
		v.Address, v.Err, v.TypesErr = p.set.String(v.Address), p.set.String(v.Err), p.set.String(v.TypesErr)
		v.BadWhy = slices.Clone(v.BadWhy)
		for j, why := range v.BadWhy {
			v.BadWhy[j] = p.set.String(why)
		}
		servers[i] = v
	}
	for i, v := range s.Subs {
		v.Key.Args, v.Shown = p.set.JSON(v.Key.Args), p.set.JSON(v.Shown)
		v.Status.Error = p.set.Text(v.Status.Error)
		subs[i] = v
	}
	s.Servers, s.Subs = servers, subs
	return s
}

// Check implements [host.Reader].
func (p *Reader) Check(ctx context.Context, r host.Request) (event.Mode, error) {
	if strings.Contains(string(r.Args), redact.Shown) {
		return "", ErrMasked
	}
	return p.Reader.Check(ctx, r)
}

// Subscribe implements [host.Actor].
func (p *Actor) Subscribe(ctx context.Context, r host.Request) (event.Subscription, error) {
	if strings.Contains(string(r.Args), redact.Shown) {
		return event.Subscription{}, ErrMasked
	}
	sub, err := p.Actor.Subscribe(ctx, r)
	sub.Key.Args, sub.Shown = p.set.JSON(sub.Key.Args), p.set.JSON(sub.Shown)
	return sub, err
}
