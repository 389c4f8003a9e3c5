package events

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

const (
	endWithin   = 5 * time.Second // how long the end of a subscription on its server may take
	lastRecords = time.Second / 2 // how long records that are stored already are printed at the end
)

// errEnded: nothing will come any more.
var errEnded = errors.New("the subscription has ended")

// errPlanned: the subscription has ended as it was planned.
var errPlanned = errors.New("the subscription ended as planned")

// printer writes the records of one subscription to standard output, each at least once: the
// position is committed after the write.
type printer struct {
	opened *program.OpenHost
	out    io.Writer
	format func([]byte, event.Record) []byte
	say    func(format string, args ...any)
	keep   bool   // the subscription stays, and with it the position
	reads  bool   // the position is another process's to keep
	joined bool   // so is the subscription
	waited string // what to say when the store takes positions again; "" while it does

	filters tailFilters
	tell    *Warner
	limit   time.Duration // --for: how long anything may take; 0: a first connection has program.ConnectWithin

	began     time.Time // when the subscription was asked for
	isNew     bool      // it was not kept before
	confirmed bool      // the server has confirmed it, in this run of the program

	sub   event.Subscription
	pos   uint64 // every record up to here is written
	count uint64 // events written
	done  bool   // what was asked for is there
	fails error  // what was asked not to come has come
	over  bool   // the state that was read last is one that ends it
	buf   []byte
}

// begin subscribes. A subscription that goes on first prints what was stored and
// not yet printed.
func (p *printer) begin(ctx context.Context, r host.Request) error {
	args, err := event.CanonicalArgs(r.Args)
	if err != nil {
		return fmt.Errorf("%w: %w", host.ErrArguments, err)
	}
	id := event.Key{Server: r.Server, Type: r.Type, Args: args}.ID()
	saved, err := p.opened.Store.Subscription(id)
	if err == nil {
		id = saved.ID // another one where the server had another name
	}
	switch {
	case err == nil && r.From.Saved:
		p.pos = saved.Printed
	case err == nil || errors.Is(err, event.ErrNotFound):
		p.pos = p.opened.Log().Last()
	default:
		return err
	}
	p.isNew, p.began = err != nil, time.Now()
	if !p.isNew && p.runsElsewhere(saved) {
		return p.join(ctx, saved, r)
	}
	if err := p.opened.Reached(ctx, r.Server); err != nil {
		return err
	}
	limited, cancel := p.patience(ctx, id)
	defer cancel()
	watched := p.watch(limited, id)
	p.sub, err = p.opened.Subscribe(limited, r)
	watched()
	p.confirmed = err == nil
	if errors.Is(err, host.ErrUnconfirmed) {
		p.sub, err = p.opened.Store.Subscription(id) // the server may still speak
	}
	if err != nil && limited.Err() != nil && (ctx.Err() == nil || timedOut(ctx)) {
		err = p.giveUp(ctx, id)
	}
	if err == nil {
		err = p.claim(ctx)
	}
	if timedOut(ctx) {
		return p.opened.Advise(r.Server, err)
	}
	return program.Stopped(ctx, p.opened.Advise(r.Server, err))
}

// watch reports problems while the server's confirmation is awaited. stop ends that.
func (p *printer) watch(ctx context.Context, id event.SubID) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	changed, unfollow := p.opened.Changed()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-changed:
				p.tell.look(p.view(id))
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
		unfollow()
	}
}

// view returns the state of a subscription that runs here.
func (p *printer) view(id event.SubID) host.SubscriptionView {
	for _, view := range p.opened.Snapshot().Subs {
		if view.ID == id {
			return view
		}
	}
	return host.SubscriptionView{}
}

// patience bounds the wait for the server's confirmation: by --for, which ctx has, or by the
// bounds of a first connection. A silent server may still answer; one that keeps failing has
// failed.
func (p *printer) patience(ctx context.Context, id event.SubID) (context.Context, context.CancelFunc) {
	if p.limit > 0 {
		return context.WithCancel(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, program.RequestWithin)
	failing := time.AfterFunc(program.ConnectWithin-time.Second, func() {
		if p.view(id).Status.Attempt > 0 {
			cancel()
		}
	})
	return limited, func() {
		failing.Stop()
		cancel()
	}
}

// giveUp ends the wait for a confirmation that did not come, and takes a new subscription
// back.
func (p *printer) giveUp(ctx context.Context, id event.SubID) error {
	err := p.notConfirmed(id, time.Since(p.began))
	if p.isNew {
		err = errors.Join(err, p.undo(ctx, id))
	}
	return err
}

// notConfirmed says why the confirmation did not come. Without --for it says first how long it was
// awaited; with it [unconfirmed] does.
func (p *printer) notConfirmed(id event.SubID, after time.Duration) error {
	var why error
	switch status := p.view(id).Status; {
	case !status.Error.IsZero():
		why = fmt.Errorf("%v", status.Error)
	case status.Attempt > 0:
		why = errors.New("the server ends it at once")
	case p.limit > 0:
		why = errors.New("the server said nothing about it")
	}
	within := after.Round(time.Second)
	switch {
	case p.limit > 0:
		return why
	case why != nil:
		return fmt.Errorf("the subscription was not confirmed within %v: %w", within, why)
	}
	return fmt.Errorf("%w: the subscription was not confirmed within %v", host.ErrUnreachable, within)
}

// undo takes back a subscription that was never confirmed.
func (p *printer) undo(ctx context.Context, id event.SubID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	err := p.opened.Unsubscribe(ctx, id)
	if errors.Is(err, event.ErrNotFound) {
		return nil
	}
	return err
}

// run prints until count events are written (0: no bound), a filter is met, within
// ends because --for is over, ctx ends, or nothing can come any more.
func (p *printer) run(ctx, within context.Context, count uint64) error {
	changed, stop := p.opened.Changed()
	defer stop()
	late, settle := p.confirmLimit()
	defer settle()
	for {
		if err := p.drain(within, count); err != nil || p.done {
			return errors.Join(err, p.fails)
		}
		if err := p.trouble(); errors.Is(err, errPlanned) {
			p.say("%s", plain.Message(err))
			return nil
		} else if err != nil {
			return err
		}
		select {
		case <-changed:
		case <-p.opened.Broken(): // trouble tells why
		case <-late:
			if p.noteConfirmed(); !p.confirmed {
				return p.giveUp(ctx, p.sub.ID)
			}
			late = nil
		case <-within.Done():
			if err := p.drainLast(ctx, count); err != nil || p.done || ctx.Err() != nil {
				return errors.Join(err, p.fails)
			}
			if p.noteConfirmed(); !p.confirmed {
				return unconfirmed(p.limit, p.sub.Key.Server, p.giveUp(context.WithoutCancel(ctx), p.sub.ID))
			}
			return p.filters.notMet(p.count, count, p.limit)
		}
	}
}

// confirmLimit returns when to give up on a server that opened a stream and confirms nothing:
// never if --for bounds the wait, or if another process runs the subscription.
func (p *printer) confirmLimit() (late <-chan time.Time, stop func()) {
	if p.confirmed || p.limit > 0 || p.joined {
		return nil, func() {}
	}
	timer := time.NewTimer(program.ConnectWithin - time.Since(p.began))
	return timer.C, func() { timer.Stop() }
}

// noteConfirmed notes whether the server has confirmed the subscription; for one of another
// process, that it works there now is a confirmation.
func (p *printer) noteConfirmed() {
	s := p.view(p.sub.ID).Status
	p.confirmed = p.confirmed || s.State.Alive() || !p.began.IsZero() && s.Opened.After(p.began)
}

// drainLast is drain after the end of --for or of ctx: records that are stored by now still count.
// A backlog may be longer than anyone waits; it is printed by the next tail with --from saved.
func (p *printer) drainLast(ctx context.Context, count uint64) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRecords)
	defer cancel()
	return p.drain(last, count)
}

// drain writes the records that are stored at the time of the call and not yet written, or
// fewer when ctx ends. Records that come meanwhile wait for the next call, so that a flood
// cannot keep tail from ending.
func (p *printer) drain(ctx context.Context, count uint64) error {
	last := p.opened.Log().Last()
	for more := true; more && !p.done && ctx.Err() == nil; {
		more = false
		before, counted := p.pos, p.count
		p.buf = p.buf[:0]
		err := p.opened.Log().After(p.pos, func(r event.Record) bool {
			p.pos = r.Seq
			if r.Sub == p.sub.ID {
				p.take(r)
			}
			p.done = p.done || count > 0 && p.count >= count
			more = len(p.buf) >= program.BatchBytes && r.Seq < last
			return !p.done && len(p.buf) < program.BatchBytes && r.Seq < last && ctx.Err() == nil
		})
		if errors.Is(err, event.ErrSilent) && p.waits(err) {
			p.pos, p.count = before, counted
			return nil
		}
		if err != nil {
			return err
		}
		if len(p.buf) == 0 {
			return nil
		}
		if _, err := p.out.Write(p.buf); err != nil {
			p.pos = before
			return fmt.Errorf("standard output: %w", err)
		}
		if err := p.commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// take prints a record if the filter takes it or tail ends with it.
func (p *printer) take(r event.Record) {
	p.done, p.fails = p.filters.ends(&r)
	if p.done || p.filters.print.Match(&r) {
		p.buf = p.format(p.buf, r)
		if r.Kind == event.KindEvent {
			p.count++
		}
	}
	switch {
	case r.Kind == event.KindState && r.State != nil:
		p.over = r.State.State.Over()
	case r.Kind == event.KindGap && r.Gap != nil:
		p.tell.gap(*r.Gap)
	}
}

// commit keeps the position, also after the end of ctx: the records are written.
func (p *printer) commit(ctx context.Context) error {
	if !p.keep || p.reads {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	err := p.opened.Printed(ctx, p.sub.ID, p.pos)
	if err == nil || errors.Is(err, event.ErrNotFound) || p.waits(err) {
		return nil // one that was removed is told as that
	}
	return p.cannotKeep(err)
}

// waits reports whether err goes away by itself, and says so once: when there is room again,
// or when the process that has the store open continues. Until then nothing is acknowledged,
// and records are printed again if the program ends before.
func (p *printer) waits(err error) bool {
	path, over := p.opened.Store.Info().Path, ""
	switch {
	case errors.Is(err, event.ErrFull):
		over = fmt.Sprintf("there is room again in %s", path)
		if p.waited != over {
			p.say("nothing can be kept in %s: %s; it goes on when there is room", path, plain.Message(err))
		}
	case errors.Is(err, event.ErrSilent):
		over = "the process with the store answers again"
		if p.waited != over {
			p.say("%s; it goes on when that does", plain.Message(err))
		}
	default:
		return false
	}
	p.waited = over
	return true
}

// cannotKeep tells the operator what a store that takes nothing means.
func (p *printer) cannotKeep(err error) error {
	return program.AdviseRecovery(fmt.Errorf("nothing can be kept in %s: %w", p.opened.Store.Info().Path, err))
}

// trouble returns why nothing can come any more: the store takes nothing, or the subscription
// is over. It returns nil for a state that was printed late and does not hold any more.
func (p *printer) trouble() error {
	snapshot := p.opened.Snapshot()
	if err := snapshot.Store.Err; err != nil && !p.waits(err) {
		return p.cannotKeep(err)
	} else if err == nil && p.waited != "" {
		p.say("%s", p.waited)
		p.waited = ""
	}
	p.tell.logged(p.opened.AppLog(), p.sub.Key.Server)
	i := slices.IndexFunc(snapshot.Subs, func(v host.SubscriptionView) bool { return v.ID == p.sub.ID })
	if i >= 0 {
		p.tell.look(snapshot.Subs[i])
		return p.ended(snapshot.Subs[i])
	}
	if p.opened.Shared() {
		return fmt.Errorf("%w: another process removed it", errEnded)
	}
	return nil
}

// ended returns why the subscription brings nothing any more, or nothing until the operator
// acts; nil if it may.
func (p *printer) ended(v host.SubscriptionView) error {
	s := v.Status
	switch s.State {
	case event.StateBackoff:
		if s.Reason == event.ReasonSignIn || s.Reason == event.ReasonRights {
			return p.opened.Advise(p.sub.Key.Server, fmt.Errorf("%w: %v", host.ErrRefused, s.Error))
		}
	case event.StateDenied:
		if p.over {
			return p.opened.Advise(p.sub.Key.Server, fmt.Errorf("%w: %v", host.ErrRefused, s.Error))
		}
	case event.StateEnded:
		if p.over && s.Error.IsZero() {
			return errPlanned
		}
		if p.over {
			return fmt.Errorf("%w: %v", errEnded, s.Error)
		}
	}
	return nil
}

// end undoes the subscription, unless it is kept.
func (p *printer) end(ctx context.Context) error {
	if p.keep {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	// The store is removed with it: a server that cannot be told forgets the subscription by
	// itself.
	_ = p.opened.Unsubscribe(ctx, p.sub.ID)
	return nil
}
