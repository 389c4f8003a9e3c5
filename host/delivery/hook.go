package delivery

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"

	"eventdeck/host/event"
)

// prepareHook makes sure that the subscription has a path, a secret and the receiver's present
// address, and that they are stored before the server is told of them. fresh asks for a new
// path, for which there is no lease yet.
func (r *Runner) prepareHook(ctx context.Context, sub event.Subscription, fresh bool) (event.Subscription, error) {
	hook := r.releaseOldPath(ctx, &sub)
	if fresh {
		r.replacePath(ctx, &sub, &hook)
	}
	if hook.Path == "" {
		path, err := newPath(r.deps.Random)
		if err != nil {
			return sub, err
		}
		hook.Path = path
	}
	if hook.Secret.IsZero() && !r.deps.ServerSecret {
		if err := Rotate(&hook, r.deps.Random, r.deps.Now()); err != nil {
			return sub, err
		}
	}
	rotated, err := r.rotateIfDue(&hook, r.deps.Now())
	if err != nil {
		return sub, err
	}
	url, err := r.deps.Callback(hook.Path)
	if err != nil {
		return sub, err
	}
	if hook.URL != "" && hook.URL != url {
		// The address is a part of the subscription's identity on the server.
		if err := Release(ctx, r.deps.Source, sub); err != nil {
			r.deps.Log.Warn("old callback address stays on the server until its lease ends", "sub", r.id, "err", err)
			r.deps.Orphaned(ctx, sub)
		}
	}
	hook.URL = url
	if hook == sub.Hook && (!fresh || sub.Lease.GrantedAt.IsZero()) {
		return sub, nil
	}
	before, stored := sub.Hook, event.Hook{}
	b := event.Batch{Update: func(s *event.Subscription) {
		changeHook(&s.Hook, before, hook)
		if fresh {
			s.Lease = event.Lease{}
		}
		stored = s.Hook
	}}
	if rotated {
		b.Audit = append(b.Audit, r.auditEntry(event.ActorHost, ActionRotate))
	}
	if _, err = r.in.commit(ctx, b); err != nil {
		return sub, err
	}
	sub.Hook = stored
	if fresh {
		sub.Lease = event.Lease{}
	}
	return sub, nil
}

// changeHook applies to the stored hook what the runner changed from before to after. Secrets
// that the operator changed meanwhile stay.
func changeHook(stored *event.Hook, before, after event.Hook) {
	stored.Path, stored.URL = after.Path, after.URL
	stored.OldPath, stored.OldURL, stored.OldUntil = after.OldPath, after.OldURL, after.OldUntil
	ours := after.Secret != before.Secret || after.Previous != before.Previous
	if ours && stored.Secret == before.Secret && stored.Previous == before.Previous {
		stored.Secret, stored.Since = after.Secret, after.Since
		stored.Previous, stored.Until = after.Previous, after.Until
	}
}

func newPath(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	b := make([]byte, 18)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("no randomness for a webhook path: %w", err)
	}
	return "/hooks/" + base64.RawURLEncoding.EncodeToString(b), nil
}
