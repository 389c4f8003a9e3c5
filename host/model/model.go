// Package model asks language models over HTTP, with one of two protocols: Chat Completions and
// Anthropic Messages. It builds the exact bytes of a call, computes an upper bound of its cost
// before it is sent, and reads the answer within limits. Answers are untrusted, and only
// returned.
//
// A call is one request, without retries or redirects, and each error comes with the cost to
// charge for it.
package model

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"

	"eventdeck/host/react"
	"eventdeck/host/redact"
)

// Errors of asking. With each of them [Client.Ask] returns what to charge.
var (
	// ErrModel: the configuration of the model, or the query, is invalid; the text says what
	// to write instead. Nothing was sent.
	ErrModel = errors.New("model")
	// ErrKey: the key is not where the configuration says. Nothing was sent.
	ErrKey = errors.New("key of the model")
	// ErrNotSent: the provider could not be reached. Nothing was sent.
	ErrNotSent = errors.New("the model was not asked")
	// ErrRefused: the provider refused the call. Nothing was spent, unless it reports usage.
	// The error is a *StatusError.
	ErrRefused = errors.New("the model's provider refused the call")
	// ErrAnswer: the answer is complete, but cannot be used. The charge is what the provider
	// reports, or the bound if it reports nothing credible.
	ErrAnswer = errors.New("the model's answer cannot be used")
	// ErrUnknown: the call was sent, but no complete answer arrived in time. What was spent is
	// unknown: the charge is the bound.
	ErrUnknown = errors.New("no answer of the model")
)

// Keyring is the system's keyring, from which keys are read.
type Keyring interface {
	// Get returns a secret. It returns when ctx ends.
	Get(ctx context.Context, service, account string) (string, error)
}

// Options of [Open]. Every member is optional.
type Options struct {
	Env     func(name string) (string, bool) // nil: os.LookupEnv
	Keyring Keyring                          // nil: there is none
	Roots   *x509.CertPool                   // authorities for TLS; nil: the system's
	Log     *slog.Logger                     // gets numbers only, no questions or answers; nil: nothing is logged
	Redact  *redact.Set                      // learns the key, and masks quotes in errors; nil: a new one
}

// Client asks one model. Its methods may be called from any goroutine.
type Client struct {
	model    react.Model
	o        Options
	wire     wire
	endpoint *url.URL
	times    times
	stream   int // largest stream, in bytes
}

// wire is what differs between the protocols.
type wire interface {
	// path returns the path of calls below the address of the model.
	path(base string) string
	// headers returns the names and values of headers: the key and what else a call needs.
	headers(key string) map[string]string
	// body returns the bytes of a call; tools are those of the query.
	body(m react.Model, q Query, tools []function) ([]byte, error)
	// usage reads a report of the call's usage into a.
	usage(told object, a *answer)
	// read reads the answer to its end into a.
	read(events events, a *answer) error
}

// Open returns a client of a model. It does not connect, and reads no key.
//
// Error: [ErrModel].
func Open(m react.Model, o Options) (*Client, error) {
	c := &Client{model: m, o: o, times: times{maxFirst, maxIdle, maxWhole, maxRing}, stream: maxStream}
	switch m.Wire {
	case react.WireChat:
		c.wire = chat{}
	case react.WireMessages:
		c.wire = messages{}
	default:
		return nil, fmt.Errorf("%w %s: wire %q is not known; write \"chat\" or \"messages\"", ErrModel, m.Name, string(m.Wire))
	}
	if m.Model == "" || len(m.Model) > maxModelName {
		return nil, fmt.Errorf("%w %s: \"model\" must have 1 to %d bytes: the name that its provider gives it", ErrModel, m.Name, maxModelName)
	}
	if m.Output < 1 || m.Output > react.MaxOutput {
		return nil, fmt.Errorf("%w %s: \"output\" must be 1 to %d tokens: without it nothing bounds what an answer costs", ErrModel, m.Name, react.MaxOutput)
	}
	if m.Price != nil && (m.Price.In < 0 || m.Price.Out < 0) {
		return nil, fmt.Errorf("%w %s: a price is negative", ErrModel, m.Name)
	}
	base, err := react.ParseModelURL(m.URL)
	if err != nil {
		return nil, fmt.Errorf("%w %s: its address: %w", ErrModel, m.Name, err)
	}
	c.endpoint = base.JoinPath(c.wire.path(base.Path))
	if c.o.Env == nil {
		c.o.Env = os.LookupEnv
	}
	if c.o.Redact == nil {
		c.o.Redact = &redact.Set{}
	}
	if c.o.Log == nil {
		c.o.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Body returns the exact bytes of a call, which depend only on model and query, and do not
// include the key.
//
// Error: [ErrModel], if the query is invalid.
func (c *Client) Body(q Query) ([]byte, error) {
	if err := q.check(); err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrModel, c.model.Name, err)
	}
	tools, err := q.functions()
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrModel, c.model.Name, err)
	}
	body, err := c.wire.body(c.model, q, tools)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrModel, c.model.Name, err)
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("%w %s: the call has %d bytes, more than %d", ErrModel, c.model.Name, len(body), maxBody)
	}
	return body, nil
}
