package delivery

import (
	"context"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Missed records a gap for a webhook delivery that the receiver refuses and that will not come
// again. id is the id that its sender gave it; several calls with the same id record one gap. It
// returns after the commit.
//
// Errors: [ErrStopped] when Run has ended; what the store answered; the cause of ctx.
func (r *Runner) Missed(ctx context.Context, id trust.Text) error {
	gap := r.in.gapRecord(event.CauseRefused, r.in.gapStart(r.in.lastSeenAt()), true)
	gap.Mode, gap.WebhookID = event.ModeWebhook, id
	_, err := r.in.commitAs(ctx, event.Batch{Records: []event.Record{gap}}, false)
	return err
}
