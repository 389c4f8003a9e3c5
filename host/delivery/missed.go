package delivery

import (
	"context"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Missed records that the receiver refuses a webhook delivery which will not come
// again. id is the delivery's, as its sender says it: the same one, refused again,
// leaves no further gap. It returns after the commit.
//
// Errors: [ErrStopped] when Run has ended; what the store answered; the cause of ctx.
func (r *Runner) Missed(ctx context.Context, id trust.Text) error {
	gap := r.in.gap(event.CauseRefused, r.in.since(r.in.lastSign()), true)
	gap.Mode, gap.WebhookID = event.ModeWebhook, id
	_, err := r.in.commitAs(ctx, event.Batch{Records: []event.Record{gap}}, false)
	return err
}
