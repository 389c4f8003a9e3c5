package dialect

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// registration is a subscription:// resource, as the registration returns it and as servers
// list it.
type registration struct {
	uri    trust.Text
	events []trust.Text
	target trust.Text
	secret *wire.GivenSecret
}

// errNoRegistration: a response names no subscription.
var errNoRegistration = fmt.Errorf("%w: no subscription", wire.ErrMalformed)

// readRegistration reads a subscription object, or a resource that holds one in _meta.
//
// Errors: errNoRegistration; [event.ErrSecret] for a malformed secret.
func readRegistration(raw json.RawMessage) (registration, error) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return registration{}, errNoRegistration
	}
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(m["_meta"], &meta) // servers differ in where they put the rest
	for _, key := range []string{"eventUris", "targetUri", "webhookSecret"} {
		if m[key] == nil {
			m[key] = meta[key]
		}
	}
	var g registration
	if json.Unmarshal(m["uri"], &g.uri) != nil || g.uri.IsZero() {
		return registration{}, errNoRegistration
	}
	_ = json.Unmarshal(m["eventUris"], &g.events)
	_ = json.Unmarshal(m["targetUri"], &g.target)
	secret := m["webhookSecret"]
	if len(secret) == 0 || string(secret) == "null" {
		return g, nil
	}
	var err error
	g.secret, err = readGiven(secret)
	return g, err
}

// readGiven reads a secret in its three forms.
//
// Error: [event.ErrSecret].
func readGiven(raw json.RawMessage) (*wire.GivenSecret, error) {
	var s struct {
		Type  string
		Value *string
		Key   *string
	}
	if json.Unmarshal(raw, &s) != nil {
		return nil, fmt.Errorf("%w: webhookSecret is not an object with a type", event.ErrSecret)
	}
	switch s.Type {
	case "none":
		return &wire.GivenSecret{Type: s.Type}, nil
	case "raw":
		if s.Value == nil || *s.Value == "" {
			return nil, fmt.Errorf("%w: of type raw without a value", event.ErrSecret)
		}
		return &wire.GivenSecret{Type: s.Type, Text: *s.Value}, nil
	case "standard":
		if s.Key == nil {
			return nil, fmt.Errorf("%w: of type standard without a key", event.ErrSecret)
		}
		return standardKey(*s.Key)
	}
	return nil, fmt.Errorf("%w: of type %v, which is not raw, standard or none", event.ErrSecret, trust.Untrusted(s.Type))
}

// standardKey reads a Standard Webhooks key with or without its prefix and padding.
func standardKey(key string) (*wire.GivenSecret, error) {
	text := strings.TrimRight(strings.TrimPrefix(key, "whsec_"), "=")
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		if raw, err = base64.RawURLEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("%w: of type standard, and its key is not base64", event.ErrSecret)
		}
	}
	given := "whsec_" + base64.StdEncoding.EncodeToString(raw)
	if _, err := event.NewSecret(given).WebhookKey(); err != nil {
		return nil, err
	}
	return &wire.GivenSecret{Type: "standard", Text: given}, nil
}

// Subscribe registers a callback, or checks that the held registration still exists: the
// dialect has no refresh, and registering again would make a second one.
func (r *resources) Subscribe(ctx context.Context, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
	where, err := expand(q.Name.Raw(), q.Arguments)
	if err != nil {
		return wire.SubscribeResult{}, err
	}
	listed, err := r.registrations(ctx)
	if err != nil {
		return wire.SubscribeResult{}, err
	}
	if !q.Held.IsZero() && (isListed(listed, q.Held) || len(listed) == 0 && r.isUnlisted(q.Held)) {
		return wire.SubscribeResult{ID: q.Held}, nil
	}
	r.replace(ctx, q, listed)
	g, err := r.register(ctx, where, q.URL)
	if err != nil {
		return wire.SubscribeResult{}, err
	}
	if listed, err := r.registrations(ctx); err == nil && !isListed(listed, g.uri) {
		r.mu.Lock()
		r.unlisted[g.uri] = true
		r.mu.Unlock()
	}
	return wire.SubscribeResult{ID: g.uri, Secret: g.secret, Anew: !q.Held.IsZero()}, nil
}

// replace ends the registrations that a new one replaces: the held one, which the server
// may have forgotten, and those that deliver to our address with a secret that never
// arrived.
func (r *resources) replace(ctx context.Context, q wire.SubscribeRequest, listed []registration) {
	old := map[trust.Text]bool{}
	if !q.Held.IsZero() && len(listed) == 0 {
		old[q.Held] = true
	}
	for _, g := range listed {
		if g.target.Raw() == q.URL {
			old[g.uri] = true
		}
	}
	for uri := range old {
		if err := r.Release(ctx, uri); err != nil {
			r.opts.Log.Info("an old registration was not ended", "err", err)
		}
	}
}

func isListed(listed []registration, uri trust.Text) bool {
	return slices.ContainsFunc(listed, func(g registration) bool { return g.uri == uri })
}

// isUnlisted reports whether the server is known not to list a registration of this
// connection.
func (r *resources) isUnlisted(uri trust.Text) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unlisted[uri]
}

// callback is the params of a registration.
func callback(where, target string) any {
	return map[string]any{"uris": []string{where}, "targetUri": target}
}

// register makes a registration whose deliveries can be verified. One that cannot be
// accepted is ended again.
func (r *resources) register(ctx context.Context, where, target string) (registration, error) {
	raw, err := r.s.Call(ctx, methodRegister, callback(where, target))
	if err != nil {
		return registration{}, named(err)
	}
	var answer struct{ Subscription json.RawMessage }
	if json.Unmarshal(raw, &answer) != nil || answer.Subscription == nil {
		return registration{}, fmt.Errorf("%s: %w", methodRegister, errNoRegistration)
	}
	g, err := readRegistration(answer.Subscription)
	switch {
	case errors.Is(err, event.ErrSecret):
		err = fmt.Errorf("%w: %w", wire.ErrUnacceptable, err)
	case err != nil:
		return g, fmt.Errorf("%s: %w", methodRegister, err)
	case g.secret == nil:
		g.secret = &wire.GivenSecret{Type: "none"}
	}
	if err == nil && g.secret.Type == "none" && !r.opts.AllowUnsigned {
		err = fmt.Errorf("%w: the server would deliver without a secret, so that anyone could forge deliveries; "+
			`to allow that for this server, set "allowUnsigned": true in its configuration`, wire.ErrUnacceptable)
	}
	if err == nil {
		return g, nil
	}
	if left := r.Release(ctx, g.uri); left != nil {
		r.opts.Log.Warn("a registration that was not accepted stays on the server", "err", left)
	}
	return g, err
}

// Unsubscribe ends the held registration.
func (r *resources) Unsubscribe(ctx context.Context, q wire.UnsubscribeRequest) error {
	if q.Held.IsZero() {
		return nil // a push subscription ended with its stream
	}
	return r.Release(ctx, q.Held)
}

// Release implements [Lister].
func (r *resources) Release(ctx context.Context, id trust.Text) error {
	_, err := r.s.Call(ctx, methodDeregister, map[string]string{"uri": id.Raw()})
	return named(err)
}

// Remote implements [Lister]: the subscription:// resources.
func (r *resources) Remote(ctx context.Context) ([]Listed, error) {
	listed, err := r.registrations(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Listed, 0, len(listed))
	for _, g := range listed {
		all = append(all, Listed{ID: g.uri, Types: g.events, Callback: g.target})
	}
	return all, nil
}

// readMost bounds the registrations that are read one by one because the list does not say
// where they deliver to.
const readMost = 32

// registrations returns the registrations that the server lists; none if it does not list
// resources.
func (r *resources) registrations(ctx context.Context) ([]registration, error) {
	if !r.can.webhook {
		return nil, nil
	}
	items, err := pages(ctx, r.s, r.opts, methodResources, "resources", maxTypes)
	if wire.NameFrom(err) == wire.MethodNotFound {
		return nil, nil
	}
	if err != nil && !errors.Is(err, ErrPartial) { // some are better than none
		return nil, err
	}
	var all []registration
	for _, item := range items {
		g, err := readRegistration(item)
		if errors.Is(err, errNoRegistration) || !strings.HasPrefix(g.uri.Raw(), subscriptionScheme) {
			continue
		}
		if g.target.IsZero() && len(all) < readMost {
			g = r.read(ctx, g)
		}
		all = append(all, g)
	}
	return all, nil
}

// read reads the resource of a registration for its missing members.
func (r *resources) read(ctx context.Context, g registration) registration {
	raw, err := r.s.Call(ctx, methodRead, map[string]string{"uri": g.uri.Raw()})
	var answer struct {
		Contents []struct{ Text string }
	}
	if err != nil || json.Unmarshal(raw, &answer) != nil {
		return g // it is listed as it is
	}
	for _, c := range answer.Contents {
		var m map[string]json.RawMessage
		if json.Unmarshal([]byte(c.Text), &m) != nil || m == nil {
			continue
		}
		if nested := m["subscription"]; nested != nil {
			_ = json.Unmarshal(nested, &m) // else the members are at the top level
		}
		_ = json.Unmarshal(m["eventUris"], &g.events)
		_ = json.Unmarshal(m["targetUri"], &g.target)
	}
	return g
}
