package events

import (
	"context"
	"errors"
	"fmt"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// runsElsewhere reports whether another process runs the subscription.
func (p *printer) runsElsewhere(sub event.Subscription) bool {
	return p.opened.Client != nil && !sub.Paused && !sub.State.Over()
}

// join prints a subscription that runs in another process, without changing it: to begin it
// again would move the position of that process too.
func (p *printer) join(ctx context.Context, sub event.Subscription, r host.Request) error {
	pid := p.opened.Client.PID()
	switch {
	case r.From.Cursor.Valid:
		return plain.UsageErrorf("--from: the subscription runs in process %d, which would be set back too; use now or saved, or quit it first", pid)
	case r.Mode != event.ModeAuto && r.Mode != sub.Mode:
		return plain.UsageErrorf("--mode: the subscription runs in process %d by %s; `eventdeck subs mode %s %s` changes that", pid, sub.Mode, sub.ID, r.Mode)
	}
	p.sub, p.joined = sub, true
	return program.Stopped(ctx, p.claim(ctx))
}

// claim finds out which process keeps the position up to which the subscription is printed.
// Only one does, so that no record printed by one process is skipped for another.
func (p *printer) claim(ctx context.Context) error {
	if !p.keep {
		return nil
	}
	keeps, err := p.opened.KeepsPosition(ctx, p.sub.ID)
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
