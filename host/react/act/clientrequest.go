package act

import (
	"context"
	"errors"

	"eventdeck/host/react"
)

// Subscriptions carries out client requests.
type Subscriptions interface {
	// Carry does what a client asked for, if it is not done already. A new subscription begins
	// from now on; Carry returns once the server has confirmed it, or once it is stored and will
	// be retried.
	// Errors: those of the server, the cause of ctx.
	Carry(ctx context.Context, w react.ClientRequest) error
}

// clientRequest carries out what a client asked for and the operator approved.
func (r *Runner) clientRequest(ctx context.Context, req react.Request) react.Result {
	ctx, cancel := context.WithTimeout(ctx, req.Time)
	defer cancel()
	err := errors.New("there are no subscriptions here")
	if r.o.Subscriptions != nil {
		err = r.o.Subscriptions.Carry(ctx, *req.Wish)
	}
	return r.ended("subscription "+string(req.Wish.Subscription())+became[req.Wish.Act], err)
}

// became says what became of a subscription.
var became = map[react.ClientAct]string{react.ClientEnd: " is ended", react.ClientPause: " is paused", react.ClientResume: " goes on"}
