package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
)

// runsElsewhere reports whether another process runs the subscription.
func (p *printer) runsElsewhere(sub event.Subscription) bool {
	return p.deck.client != nil && !sub.Paused && !sub.State.Over()
}

// join prints a subscription that runs in another process, and changes nothing of
// it: to begin it anew would move the position of that one too.
func (p *printer) join(ctx context.Context, sub event.Subscription, r host.Request) error {
	pid := p.deck.client.PID()
	switch {
	case r.From.Cursor.Valid:
		return usagef("--from: the subscription runs in process %d, which would be set back too; use now or saved, or quit it first", pid)
	case r.Mode != event.ModeAuto && r.Mode != sub.Mode:
		return usagef("--mode: the subscription runs in process %d by %s; `eventdeck subs mode %s %s` changes that", pid, sub.Mode, sub.ID, r.Mode)
	}
	p.sub, p.joined = sub, true
	return stopped(ctx, p.claim(ctx))
}

// claim finds out which process keeps the position up to which the subscription is
// printed: it is one, so that what one has printed is not passed over for another.
func (p *printer) claim(ctx context.Context) error {
	if !p.keep {
		return nil
	}
	keeps, err := p.deck.keepsPosition(ctx, p.sub.ID)
	if err != nil {
		if p.waits(err) || errors.Is(err, event.ErrNotFound) {
			return nil
		}
		return fmt.Errorf("the position that is printed: %w", err)
	}
	if p.reads = !keeps; p.reads {
		p.say("another process prints this subscription too: --from saved goes on where that one is")
	}
	return nil
}

// reachedElsewhere waits until the process that has the store open has reached a server,
// and returns why it has not. It may have failed long before, and wait until it tries
// again: then it tries at once. Without such a process there is nothing to wait for.
func (d *deck) reachedElsewhere(ctx context.Context, server string) error {
	if d.client == nil {
		return nil
	}
	_, err := d.connect(ctx, server)
	if err == nil || !host.Transient(err) {
		return err
	}
	if err := d.Reconnect(server); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, connectWithin-time.Second)
	defer cancel()
	if _, failed := d.Connected(limited, server, false); failed == nil {
		return nil
	}
	if ctx.Err() == nil {
		_, err = d.connect(ctx, server) // it may have another reason by now
	}
	return err
}
