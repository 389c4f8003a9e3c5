package act

import (
	"context"
	"errors"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Subscriptions begins and ends subscriptions. Both methods are idempotent.
type Subscriptions interface {
	// Subscribe begins a subscription from now on, and returns once the server has confirmed
	// it, or once it is stored and will be retried.
	// Errors: those of the server, the cause of ctx.
	Subscribe(ctx context.Context, key event.Key, mode event.Mode) (event.SubID, error)
	// Unsubscribe ends a subscription here and on its server.
	Unsubscribe(ctx context.Context, id event.SubID) error
}

// clientRequest carries out what a client asked for and the operator approved.
func (r *Runner) clientRequest(ctx context.Context, req react.Request) react.Result {
	ctx, cancel := context.WithTimeout(ctx, req.Time)
	defer cancel()
	err := errors.New("there are no subscriptions here")
	why := ""
	if to, w := r.o.Subscriptions, req.Wish; to != nil && w.Ends != "" {
		err, why = to.Unsubscribe(ctx, w.Ends), "subscription "+string(w.Ends)+" is ended"
	} else if to != nil {
		var id event.SubID
		id, err = to.Subscribe(ctx, event.Key{Server: w.Server, Type: w.Type, Args: w.Args}, w.Mode)
		why = "subscription " + string(id)
	}
	return r.ended(why, err)
}
