package delivery

import (
	"context"
	"errors"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// Suspend asks the server to stop delivering a push subscription that it keeps.
//
// Errors: those of [Source.Pause], but for an unknown subscription.
func Suspend(ctx context.Context, src Source, sub event.Subscription) error {
	return ignoreUnknown(src.Pause(ctx, ending(sub)))
}

// Release ends a subscription on its server: a webhook, also on the paths beside its present
// one, or a push subscription that outlives its connection. A server that does not know it
// counts as success. After another error the caller goes on as if it had ended, as the lease
// runs out (field notes 14).
//
// Errors: those of [Source.Unsubscribe].
func Release(ctx context.Context, src Source, sub event.Subscription) error {
	if sub.Mode != event.ModePush && sub.Hook.URL == "" {
		return nil
	}
	err := ignoreUnknown(src.Unsubscribe(ctx, ending(sub)))
	for _, other := range []string{sub.Hook.OldURL, sub.Hook.NewURL} {
		if other != "" {
			sub.Hook.URL = other
			err = errors.Join(err, ignoreUnknown(src.Unsubscribe(ctx, ending(sub))))
		}
	}
	return err
}

// Released drops the lease of a subscription that was ended on its server, and the secret if the
// server made it.
func Released(s *event.Subscription, serverSecret bool) {
	s.Lease = event.Lease{}
	if serverSecret {
		s.Hook.Secret, s.Hook.Scheme = event.Secret{}, event.SchemeStandard
	}
}

// ending returns the request that ends a subscription.
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

// release ends the subscription at one address, and logs when the server does not confirm it.
func (r *Runner) release(ctx context.Context, sub *event.Subscription, url string) {
	at := *sub
	at.Mode, at.Hook.URL, at.Hook.OldURL, at.Hook.NewURL = event.ModeWebhook, url, "", ""
	within, cancel := context.WithTimeout(ctx, releaseWithin)
	defer cancel()
	if err := Release(within, r.deps.Source, at); err != nil {
		r.deps.Log.Warn("a callback address stays on the server until its lease ends", "sub", r.id, "err", err)
		r.deps.Orphaned(ctx, at)
	}
}

// endPaths ends on the server the path before the present one, and a new one whose proof is over. It
// returns the hook without their addresses, and without the old path when its grace is over.
func (r *Runner) endPaths(ctx context.Context, sub *event.Subscription) event.Hook {
	hook := sub.Hook
	if hook.OldURL != "" {
		r.release(ctx, sub, hook.OldURL)
		hook.OldURL = ""
	}
	if r.deps.Now().After(hook.OldUntil) {
		hook.OldPath, hook.OldUntil = "", time.Time{}
	}
	if hook.NewURL != "" && !r.isProvingPath() {
		r.release(ctx, sub, hook.NewURL)
		hook.NewPath, hook.NewURL = "", ""
	}
	return hook
}
