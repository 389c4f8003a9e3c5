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
// address, and that they are stored before the server learns of them. It ends paths that are no
// longer wanted.
func (r *Runner) prepareHook(ctx context.Context, sub event.Subscription) (event.Subscription, error) {
	hook := r.endPaths(ctx, &sub)
	if hook.Path == "" {
		path, err := randomPath(r.deps.Random)
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
	moved := hook.URL != "" && hook.URL != url
	if moved { // the address is a part of the subscription's identity on the server
		r.release(ctx, &sub, hook.URL)
	}
	hook.URL = url
	if hook == sub.Hook {
		return sub, nil
	}
	before := sub.Hook
	var stored event.Subscription
	b := event.Batch{Update: func(s *event.Subscription) {
		changeHook(&s.Hook, before, hook)
		if moved {
			s.Lease = event.Lease{}
		}
		stored = *s
	}}
	if rotated {
		b.Audit = append(b.Audit, r.auditEntry(event.ActorHost, ActionRotate))
	}
	if _, err = r.in.commit(ctx, b); err != nil {
		return sub, err // the store may still call the update
	}
	sub.Hook, sub.Lease = stored.Hook, stored.Lease
	return sub, nil
}

// changeHook applies to the stored hook what the runner changed from before to after. Secrets
// that the operator changed meanwhile stay.
func changeHook(stored *event.Hook, before, after event.Hook) {
	stored.Path, stored.URL = after.Path, after.URL
	stored.NewPath, stored.NewURL, stored.Tried = after.NewPath, after.NewURL, after.Tried
	stored.OldPath, stored.OldURL, stored.OldUntil = after.OldPath, after.OldURL, after.OldUntil
	ours := after.Secret != before.Secret || after.Previous != before.Previous
	if ours && stored.Secret == before.Secret && stored.Previous == before.Previous {
		stored.Secret, stored.Since = after.Secret, after.Since
		stored.Previous, stored.Until = after.Previous, after.Until
	}
}

func randomPath(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	b := make([]byte, 18)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("no randomness for a webhook path: %w", err)
	}
	return "/hooks/" + base64.RawURLEncoding.EncodeToString(b), nil
}
