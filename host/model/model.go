// Package model asks language models over HTTP, on two wires: Chat Completions and
// Anthropic Messages. It builds the exact bytes of a call, tells what the call may cost at
// most before it is sent, and reads the answer within bounds. Nothing that a model answers
// is trusted, and nothing is done about it here.
//
// A call is one request: nothing is sent again, no redirect is followed, and each error
// comes with what is to be charged for it.
package model

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"

	"eventdeck/host/react"
	"eventdeck/host/react/address"
	"eventdeck/host/redact"
)

// Errors of asking. With each of them [Client.Ask] returns what is to be charged.
var (
	// ErrModel: the model cannot be asked as it is configured, or not this; the text says
	// what to write. Nothing was sent.
	ErrModel = errors.New("model")
	// ErrKey: the key is not where the model says that it is. Nothing was sent.
	ErrKey = errors.New("key of the model")
	// ErrNotSent: the provider could not be reached. Nothing was sent.
	ErrNotSent = errors.New("the model was not asked")
	// ErrRefused: the provider answered that it does not carry the call out. Nothing was
	// spent, unless it reports usage all the same. The error is a *StatusError.
	ErrRefused = errors.New("the model's provider refused the call")
	// ErrAnswer: an answer came to its end, and cannot be used. It was charged as the
	// provider says, or at the bound if it says nothing that can be believed.
	ErrAnswer = errors.New("the model's answer cannot be used")
	// ErrUnknown: the call was sent, and its answer did not come, not in time or not as a
	// whole. It is not known what was spent: it is charged at the bound.
	ErrUnknown = errors.New("no answer of the model")
)

// Keyring is the system's, of which keys are read. Its calls may take as long as they like.
type Keyring interface {
	// Get returns a secret.
	Get(service, account string) (string, error)
}

// Options are how a model is asked. Every member is optional.
type Options struct {
	Env     func(name string) (string, bool) // nil: os.LookupEnv
	Keyring Keyring                          // nil: there is none
	Roots   *x509.CertPool                   // authorities for TLS; nil: the system's
	Log     *slog.Logger                     // numbers only, no text of any side; nil: nothing is logged
	Redact  *redact.Set                      // gets to know the key, and masks what errors quote; nil: one of its own
}

// Client asks one model. Its methods may be called from any goroutine.
type Client struct {
	model    react.Model
	o        Options
	wire     wire
	endpoint *url.URL
	times    times
	stream   int // bytes of a stream
}

// wire is what differs between the protocols.
type wire interface {
	// path returns where calls go below the address of the model.
	path(base string) string
	// headers returns the names and values that carry the key, and what else a call needs.
	headers(key string) map[string]string
	// body returns the bytes of a call; tools are those of the query.
	body(m react.Model, q Query, tools []function) ([]byte, error)
	// usage reads a report of all that a call used into a.
	usage(told object, a *answer)
	// read reads the answer to its end into a.
	read(events events, a *answer) error
}

// Open returns what asks a model. It connects to nothing and reads no key.
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
	base, err := address.Model(m.URL)
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

// Body returns the exact bytes of a call: the same for the same model and query, and
// without the key.
//
// Error: [ErrModel], when the query cannot be asked.
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
