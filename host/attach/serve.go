package attach

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
)

// handler decodes the argument of a verb, and returns the call that answers it. Error: [ErrAnswer]
// for a body that is no argument of the verb.
type handler func(body *gob.Decoder) (call func(context.Context, *session) (any, error), err error)

// answer returns the name of a verb and a handler that calls fn.
func answer[In, Out any](v verb[In, Out], fn func(context.Context, *session, In) (Out, error)) (string, handler) {
	return string(v), func(body *gob.Decoder) (func(context.Context, *session) (any, error), error) {
		var in In
		if err := body.Decode(&in); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
		}
		return func(ctx context.Context, e *session) (any, error) { return fn(ctx, e, in) }, nil
	}
}

// handleChange is answer for changes: see [Server.finishing].
func handleChange[In, Out any](v verb[In, Out], fn func(context.Context, *session, In) (Out, error)) (string, handler) {
	return answer(v, func(ctx context.Context, e *session, in In) (Out, error) {
		ctx, stop := e.server.finishing(ctx)
		defer stop()
		return fn(ctx, e, in)
	})
}

// handleRead is answer for methods of the host that change nothing.
func handleRead[In, Out any](v verb[In, Out], fn func(host.API, context.Context, In) (Out, error)) (string, handler) {
	return answer(v, func(ctx context.Context, e *session, in In) (Out, error) { return fn(e.api(), ctx, in) })
}

// handleAct is handleChange for methods of the host without a result.
func handleAct[In any](v verb[In, nothing], fn func(host.API, context.Context, In) error) (string, handler) {
	return handleChange(v, func(ctx context.Context, e *session, in In) (nothing, error) { return false, fn(e.api(), ctx, in) })
}

// handlers returns the handler of each verb.
func handlers() map[string]handler {
	all := map[string]handler{}
	add := func(name string, h handler) { all[name] = h }
	add(answer(verbState, answerState))
	add(answer(verbRecords, answerRecords))
	add(answer(verbGet, func(_ context.Context, e *session, seq uint64) (record, error) {
		r, err := e.api().Log().Get(seq)
		return newRecord(r), err
	}))
	add(answer(verbHasEvent, func(_ context.Context, e *session, k eventKey) (bool, error) {
		return e.store().HasEvent(k.Sub, k.ID), nil
	}))
	add(answer(verbSubs, func(_ context.Context, e *session, _ nothing) ([]event.Subscription, error) {
		return e.store().Subscriptions(), nil
	}))
	add(answer(verbSub, func(_ context.Context, e *session, id event.SubID) (event.Subscription, error) {
		return e.store().Subscription(id)
	}))
	add(answer(verbAudit, answerAudit))
	add(answer(verbSeen, func(_ context.Context, e *session, _ nothing) ([]event.ServerSeen, error) {
		return e.store().Servers(), nil
	}))
	add(handleRead(verbStats, func(h host.API, _ context.Context, _ nothing) (host.Stats, error) { return h.Stats(), nil }))
	add(handleRead(verbRefused, func(h host.API, _ context.Context, _ nothing) ([]event.Refusal, error) { return h.Refusals(), nil }))
	add(answer(verbRetention, func(_ context.Context, e *session, _ nothing) (event.Retention, error) {
		return e.store().Retention(), nil
	}))
	add(answer(verbBackup, answerBackup))
	add(handleChange(verbSetRetention, func(ctx context.Context, e *session, r event.Retention) (nothing, error) {
		return false, e.store().SetRetention(ctx, r)
	}))
	addServers(add)
	addSubscriptions(add)
	addSettings(add)
	addReactions(add)
	return all
}

func addServers(add func(string, handler)) {
	add(answer(verbAdd, addServer))
	add(handleRead(verbTypes, host.API.Types))
	add(handleRead(verbAnnounced, host.API.Announced))
	add(handleRead(verbConnected, func(h host.API, ctx context.Context, a connectRequest) (serverAnswer, error) {
		v, err := h.Connected(ctx, a.Server, a.FirstTry)
		return serverAnswer{v}, err
	}))
	add(handleAct(verbReconnect, func(h host.API, _ context.Context, server string) error { return h.Reconnect(server) }))
	add(handleAct(verbRemove, host.API.RemoveServer))
	add(handleRead(verbRemote, host.API.Remote))
	add(handleAct(verbEndRemote, func(h host.API, ctx context.Context, r remoteID) error { return h.EndRemote(ctx, r.Server, r.ID) }))
	add(answer(verbName, func(ctx context.Context, e *session, address string) (string, error) {
		return host.AddressName(ctx, e.store(), address)
	}))
	add(answer(verbSignIn, beginSignIn))
	add(answer(verbWait, waitSignIn))
	add(handleAct(verbSignOut, host.API.SignOut))
}

func addSubscriptions(add func(string, handler)) {
	add(handleRead(verbPreview, func(h host.API, _ context.Context, r request) (host.Preview, error) { return h.Preview(r.request()) }))
	add(handleRead(verbCheck, func(h host.API, ctx context.Context, r request) (event.Mode, error) { return h.Check(ctx, r.request()) }))
	add(handleChange(verbSubscribe, func(ctx context.Context, e *session, r request) (event.Subscription, error) {
		return e.api().Subscribe(ctx, r.request())
	}))
	add(handleAct(verbEnd, host.API.Unsubscribe))
	add(handleAct(verbPause, host.API.Pause))
	add(handleAct(verbResume, host.API.Resume))
	add(handleAct(verbRefresh, host.API.Refresh))
	add(handleAct(verbRotate, host.API.RotateSecret))
	add(handleAct(verbMode, func(h host.API, ctx context.Context, m modeChange) error { return h.SetMode(ctx, m.Sub, m.Mode) }))
	add(handleAct(verbSetEnd, func(h host.API, ctx context.Context, c endChange) error { return h.SetEnd(ctx, c.Sub, c.At) }))
	add(handleAct(verbFailover, func(h host.API, ctx context.Context, c failoverChange) error { return h.SetFailover(ctx, c.Sub, c.On) }))
	add(handleAct(verbReset, func(h host.API, ctx context.Context, r reset) error { return h.ResetCursor(ctx, r.Sub, r.From) }))
	add(handleChange(verbPrinted, func(ctx context.Context, e *session, p printed) (nothing, error) {
		if !e.server.claim(p.Sub, e) {
			return false, ErrPrints
		}
		return false, e.api().Printed(ctx, p.Sub, p.Seq)
	}))
}

func addSettings(add func(string, handler)) {
	add(handleRead(verbSetting, func(h host.API, _ context.Context, key string) (string, error) { return h.Setting(key) }))
	add(handleAct(verbSetSetting, func(h host.API, ctx context.Context, s setting) error { return h.SetSetting(ctx, s.Key, s.Value) }))
	add(handleAct(verbMark, host.API.SetMark))
	add(handleAct(verbUnmark, func(h host.API, ctx context.Context, m markID) error { return h.RemoveMark(ctx, m.Seq, m.Line) }))
}

func (e *session) api() host.API      { return e.server.opts.API }
func (e *session) store() event.Store { return e.server.opts.Store }

// answerState waits for a state that is newer than the client's.
func answerState(ctx context.Context, e *session, a stateRequest) (state, error) {
	if a.Part {
		out := state{Part: true, Snapshot: e.api().SnapshotOf(a.Sub), Audited: e.api().Audit().Last()}
		info := &out.Snapshot.Store
		info.Err, info.Damage, info.Locked = nil, nil, nil
		if a.Sub == "" {
			out.Marks = e.api().Marks()
		}
		return out, nil
	}
	changed, stop := e.api().Changed()
	defer stop()
	late := time.NewTimer(max(a.Wait, 0))
	defer late.Stop()
	for {
		began := time.Now()
		out := state{Snapshot: e.api().Snapshot()}
		out.Took = time.Since(began) + time.Duration(e.encoding.Load())
		if out.Snapshot.Version != a.Since || a.Wait <= 0 {
			return e.fill(out, a), nil
		}
		select {
		case <-changed:
		case <-late.C:
			a.Wait = 0
		case <-ctx.Done():
			return state{}, context.Cause(ctx)
		}
	}
}

// fill adds the parts of a state that the snapshot does not have.
func (e *session) fill(out state, a stateRequest) state {
	info := &out.Snapshot.Store
	out.StoreErr, out.Damage, out.Locked = failed(info.Err), failed(info.Damage), failed(info.Locked)
	info.Err, info.Damage, info.Locked = nil, nil, nil
	out.Marks, out.Audited = e.api().Marks(), e.api().Audit().Last()
	size := 0
	e.api().AppLog().After(a.AppAfter, func(n uint64, l host.LogLine) bool {
		out.App, out.AppLast = append(out.App, l), n
		size += len(l.Text)
		return size < pageBytes
	})
	if !a.Wire {
		return out
	}
	size = 0
	e.api().Wire().After(a.WireAfter, func(n uint64, f host.WireFrame) bool {
		out.Wire, out.WireLast = append(out.Wire, f), n
		size += f.Frame.Len()
		return size < pageBytes
	})
	return out
}

// answerRecords reads a page of the log.
func answerRecords(ctx context.Context, e *session, s recordRange) (page, error) {
	var out page
	size, most := 0, min(max(s.Count, 1), pageRecords)
	take := func(r event.Record) bool {
		down := s.To < s.From
		if !down && r.Seq > s.To || down && r.Seq < s.To {
			return false
		}
		out.Records = append(out.Records, newRecord(r))
		size += len(r.Raw)
		if len(out.Records) < most && size < pageBytes && ctx.Err() == nil {
			return true
		}
		switch {
		case r.Seq == s.To:
		case down:
			out.Next = r.Seq - 1
		default:
			out.Next = r.Seq + 1
		}
		return false
	}
	var err error
	if log := e.api().Log(); s.To < s.From {
		err = log.Before(s.From+1, take)
	} else {
		err = log.After(max(s.From, 1)-1, take)
	}
	return out, err
}

func answerAudit(_ context.Context, e *session, a auditRequest) ([]event.AuditEntry, error) {
	var out []event.AuditEntry
	most := min(max(a.Count, 1), pageRecords)
	err := e.api().Audit().Before(a.Before, func(r event.AuditEntry) bool {
		out = append(out, r)
		return len(out) < most
	})
	return out, err
}

// answerBackup copies the store to a file of this system.
func answerBackup(ctx context.Context, e *session, file string) (int64, error) {
	b, ok := e.store().(Backuper)
	if !ok || !filepath.IsAbs(file) {
		return 0, fmt.Errorf("%w: a copy of the store", ErrNotHere)
	}
	return b.Backup(ctx, file)
}

// addServer adds a server, if it is new. The description is the owner's own: a client's would bring
// secrets over the socket.
func addServer(ctx context.Context, e *session, want serverName) (nothing, error) {
	known := false
	for _, v := range e.api().Snapshot().Servers {
		known = known || v.Name == want.Name
	}
	find := e.server.opts.Find
	if find == nil {
		find = func(string) (event.Server, error) { return event.Server{}, errors.New("it is not known here") }
	}
	s, err := find(cmp.Or(want.Address, want.Name))
	if err == nil && want.Address != "" {
		s.Name, err = host.AddressName(ctx, e.store(), want.Address)
	}
	switch {
	case err != nil && known: // it was added in another way, as demo servers are
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%w: %w", host.ErrUnknownServer, err)
	case s.Name != want.Name, fingerprint(s) != want.Print && !event.IsAddressName(want.Name):
		return false, fmt.Errorf("%w %q: the process with the store knows another server by this name", host.ErrUnknownServer, want.Name)
	case !known:
		s.ByHand = true // an operator asked for it with a command
		e.api().AddServer(s)
	}
	return false, nil
}

// maxSignIns bounds the pending sign-ins of one client.
const maxSignIns = 4

func beginSignIn(ctx context.Context, e *session, server string) (signInAnswer, error) {
	e.mu.Lock()
	full := len(e.signIns) >= maxSignIns
	e.mu.Unlock()
	if full {
		return signInAnswer{}, fmt.Errorf("%w: %d sign-ins", ErrBusy, maxSignIns)
	}
	s, err := e.api().SignIn(ctx, server)
	if err != nil {
		return signInAnswer{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.signIn++
	e.signIns[e.signIn] = s
	return signInAnswer{s.URL, s.Issuer, e.signIn}, nil
}

var errNoSignIn = errors.New("no such sign-in")

func waitSignIn(ctx context.Context, e *session, w signInWait) (nothing, error) {
	e.mu.Lock()
	s, ok := e.signIns[w.ID]
	delete(e.signIns, w.ID)
	e.mu.Unlock()
	if !ok {
		return false, errNoSignIn
	}
	if w.GiveUp {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	}
	return false, s.Wait(ctx)
}
