package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Preview is what a [Request] would send, without sending it.
type Preview struct {
	Mode     event.Mode
	Method   string
	Params   json.RawMessage // secrets masked, see [schema.MaskArguments]
	Callback string          // address to which the server would deliver; "" in other modes than webhook
	Firings  []time.Time     // when a subscription on a schedule delivers next; nil for one that delivers at once
	Command  string          // the command line that does the same, for a POSIX shell; secrets masked
}

// nextFirings is how many of the next deliveries of a schedule are shown.
const nextFirings = 3

// noSecret is shown for a secret that will be made when the subscription begins.
const noSecret = "whsec_…"

// Preview implements [API].
func (subs *subscriptions) Preview(r Request) (Preview, error) {
	s, err := subs.servers.server(r.Server)
	if err != nil {
		return Preview{}, err
	}
	args, err := event.CanonicalArgs(r.Args)
	if err != nil {
		return Preview{}, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	key := event.Key{Server: r.Server, Type: r.Type, Args: args}
	p := Preview{Mode: r.Mode, Command: commandLine(r, args)}
	old, err := subs.opts.Store.Subscription(key.ID())
	if err != nil && !errors.Is(err, event.ErrNotFound) {
		return Preview{}, err
	}
	s.mu.Lock()
	types, d := s.view.Types, s.dialect
	s.mu.Unlock()
	if t, err := findType(types, r.Server, r.Type); err == nil {
		key.Args = schema.MaskArguments(t, args)
		p.Command = commandLine(r, key.Args)
		kind := dialect.KindOf(t.Dialect)
		if kind.Check != nil {
			if err := kind.Check(t, args, subs.opts.Now()); err != nil {
				return p, schema.Secrets(t, args).Error(fmt.Errorf("%w: %w", ErrArguments, err))
			}
		}
		if kind.Firings != nil {
			p.Firings = kind.Firings(args, subs.opts.Now(), nextFirings)
		}
		if r.From.Saved && isAuto(r.Mode) && t.Offers(old.Mode) {
			r.Mode = old.Mode
		}
		if p.Mode, err = subs.chooseMode(t, r.Mode); err != nil {
			return Preview{}, err
		}
	} else if isAuto(r.Mode) {
		return Preview{}, err // what the type offers decides
	}
	at := wire.Position{MaxAge: r.MaxAge}
	switch {
	case r.From.Cursor.Valid:
		at.Cursor, at.Valid, at.Number = r.From.Cursor.Text, true, r.From.Cursor.Number
	case r.From.Saved:
		at.Cursor, at.Valid, at.Number = old.Cursor.Text, old.Cursor.Valid, old.Cursor.Number
	}
	req, err := subs.requestOf(p.Mode, key, at, old.Hook, r)
	if err != nil {
		return Preview{}, err
	}
	if hook, ok := req.(wire.SubscribeRequest); ok {
		p.Callback = hook.URL
	}
	preview := dialect.Preview
	if own, ok := d.(dialect.Previewer); ok {
		preview = own.Preview
	}
	p.Method, p.Params, err = preview(req)
	return p, err
}

// requestOf returns the request of a mode, its secret masked.
func (subs *subscriptions) requestOf(mode event.Mode, key event.Key, at wire.Position, hook event.Hook, r Request) (any, error) {
	switch mode {
	case event.ModePoll:
		return wire.PollRequest{Name: key.Type, Arguments: key.Args, At: at}, nil
	case event.ModePush:
		return wire.StreamRequest{Name: key.Type, Arguments: key.Args, At: at}, nil
	case event.ModeWebhook:
		secret := hook.Secret.String()
		switch {
		case !hook.Secret.IsZero():
		case r.Secret.IsZero():
			secret = noSecret
		default:
			secret = r.Secret.String()
		}
		url := hook.URL
		if url == "" {
			url = subs.hooks.Expected() + "/hooks/…"
		}
		return wire.SubscribeRequest{Name: key.Type, Arguments: key.Args, At: at, URL: url, Secret: secret, TTL: r.TTL}, nil
	}
	return nil, fmt.Errorf("%w: there is no mode %q; use auto, poll, push or webhook", ErrMode, mode)
}

// commandLine returns the command line that subscribes as r does.
func commandLine(r Request, args json.RawMessage) string {
	words := []string{"eventdeck", "tail", shellQuote(r.Server), shellQuote(r.Type.Raw())}
	if len(args) > 0 && string(args) != "{}" {
		words = append(words, "--args", shellQuote(string(args)))
	}
	if !isAuto(r.Mode) {
		words = append(words, "--mode", string(r.Mode))
	}
	switch {
	case r.From.Cursor.Valid:
		words = append(words, "--from", shellQuote(r.From.Cursor.Text.Raw()))
	case r.From.Saved:
		words = append(words, "--from", "saved")
	}
	if r.MaxAge > 0 {
		words = append(words, "--max-age", r.MaxAge.String())
	}
	return strings.Join(words, " ")
}

// shellQuote returns a word as a POSIX shell reads it back, on one line without control
// characters: where there are any, as $'…' with escapes.
func shellQuote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if word != "" && word[0] != '-' && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	if trust.Line(trust.Untrusted(word)).Plain() == word {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(word) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
