package delivery

import (
	"context"
	"errors"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// Suspend asks the server to hold back a push subscription that it keeps.
func Suspend(ctx context.Context, src Source, sub event.Subscription) error {
	return ignoreUnknown(src.Pause(ctx, ending(sub)))
}

// Release ends a webhook subscription, also on the path before its present one, or a push
// subscription that outlives its connection, on its server. A server that does not know
// it, or cannot be reached any more, counts as an end (field notes 14); the
// error of the latter is returned for the record.
func Release(ctx context.Context, src Source, sub event.Subscription) error {
	if sub.Mode != event.ModePush && sub.Hook.URL == "" {
		return nil
	}
	err := ignoreUnknown(src.Unsubscribe(ctx, ending(sub)))
	if sub.Hook.OldURL != "" {
		sub.Hook.URL = sub.Hook.OldURL
		err = errors.Join(err, ignoreUnknown(src.Unsubscribe(ctx, ending(sub))))
	}
	return err
}

func ending(sub event.Subscription) wire.UnsubscribeRequest {
	return wire.UnsubscribeRequest{Name: sub.Key.Type, Arguments: sub.Key.Args, URL: sub.Hook.URL, Held: sub.Lease.ServerID}
}

// ignoreUnknown drops the answer of a server that knows no such subscription.
func ignoreUnknown(err error) error {
	if wire.NameFrom(err) == wire.NotFound {
		return nil
	}
	return err
}

// release ends the subscription at an address, as far as the server answers.
func (r *Runner) release(ctx context.Context, sub *event.Subscription, url string) {
	at := *sub
	at.Mode, at.Hook.URL, at.Hook.OldURL = event.ModeWebhook, url, ""
	within, cancel := context.WithTimeout(ctx, takeLeave)
	defer cancel()
	if err := Release(within, r.deps.Source, at); err != nil {
		r.deps.Log.Warn("a callback address stays on the server until its lease ends", "sub", r.id, "err", err)
		r.deps.Left(ctx, at)
	}
}

// dropOld ends the path before a fresh one that is proved.
func (r *Runner) dropOld(ctx context.Context, url string) {
	sub, err := r.deps.Store.Subscription(r.id)
	if url == "" || err != nil || sub.Hook.OldURL != url {
		return
	}
	r.release(ctx, &sub, url)
	err = r.in.submit(ctx, event.Batch{Update: func(s *event.Subscription) {
		if s.Hook.OldURL == url {
			s.Hook.OldURL = ""
		}
	}})
	if err != nil && ctx.Err() == nil {
		r.deps.Log.Warn("that the old callback address was ended is not stored", "sub", r.id, "err", err)
	}
}
