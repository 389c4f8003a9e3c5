package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/redact"
	"eventdeck/host/schema"
)

// HideServer adds the secrets in the description of a server to a set.
func HideServer(set *redact.Set, s event.Server) {
	set.AddSecrets(s.OAuth.ClientSecret)
	set.AddSecrets(event.AddressSecrets(s.URL)...)
	for name, value := range s.Env {
		hideNamed(set, name, value)
	}
	if s.Command != "" {
		hideInherited(set, os.Environ())
	}
	for name, value := range s.Headers {
		hideNamed(set, name, value)
		req := http.Request{Header: http.Header{"Authorization": {value.Reveal()}}}
		if _, password, ok := req.BasicAuth(); ok {
			hideNamed(set, "password", event.NewSecret(password))
		}
		if scheme, credentials, ok := strings.Cut(value.Reveal(), " "); ok && strings.EqualFold(scheme, "Bearer") {
			hideNamed(set, "token", event.NewSecret(credentials))
		}
	}
}

// hideInherited adds the secrets of this process's environment, which the server's process
// inherits, by their names. The rules are narrower than for a configuration: an environment
// has names like PWD and SSH_AUTH_SOCK, and paths are no secrets.
func hideInherited(set *redact.Set, environ []string) {
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		words := strings.Split(strings.ToUpper(name), "_")
		secret := slices.ContainsFunc(words, func(word string) bool {
			return slices.Contains([]string{"TOKEN", "SECRET", "KEY", "APIKEY", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS"}, word)
		})
		if secret && !filepath.IsAbs(value) {
			set.AddSecrets(event.NewSecret(value))
		}
	}
}

// hideNamed adds a value whose name says secret, or that looks like a key. Masking other values,
// such as a language or a path, would hide ordinary text.
func hideNamed(set *redact.Set, name string, value event.Secret) {
	if event.SecretName(name) || event.LooksRandom(value.Reveal()) {
		set.AddSecrets(value)
	}
}

// HideSubscription adds the secrets of a subscription to a set: secret arguments, the secrets that
// sign its deliveries, and the token that resumes its stream.
func HideSubscription(set *redact.Set, s event.Subscription) {
	hide(set, s.Key.Args, s.Shown)
	set.AddGiven(s.Hook.Secret, s.Hook.Previous, s.Resume)
}

// hide adds the arguments that are masked in shown to a set.
func hide(set *redact.Set, args, shown json.RawMessage) {
	set.Add(schema.SecretArguments(args, shown)...)
}

// hideStored hides the secrets of the stored subscriptions.
func (c *core) hideStored() {
	for _, sub := range c.opts.Store.Subscriptions() {
		HideSubscription(&c.secrets, sub)
	}
}

// hideSecrets masks arguments that the schemas in types, just listed, call secret, in
// subscriptions that were stored before the schemas said so.
func (subs *subscriptions) hideSecrets(ctx context.Context, server string, types []event.Type) {
	for _, sub := range subs.storedOf(server) {
		t, err := findType(types, sub.Key.Server, sub.Key.Type)
		if err != nil || bytes.Equal(schema.ShownArguments(t, sub.Key.Args), sub.Shown) {
			continue
		}
		hide(&subs.secrets, sub.Key.Args, schema.ShownArguments(t, sub.Key.Args))
		err = subs.commit(ctx, event.Batch{Sub: sub.ID, IfKept: true, Update: func(s *event.Subscription) {
			s.Shown = schema.ShownArguments(t, s.Key.Args)
		}})
		if err != nil && !errors.Is(err, event.ErrClosed) {
			subs.opts.Log.Warn("what is secret in the arguments was not noted", "sub", sub.ID, "err", err)
		}
	}
}
