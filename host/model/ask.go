package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// Errors of waiting.
var (
	errFirst = fmt.Errorf("nothing came within %v", maxFirst)
	errIdle  = fmt.Errorf("it was silent for %v", maxIdle)
	errWhole = fmt.Errorf("it did not end within %v", maxWhole)
)

// times are the time limits of a call.
type times struct{ first, idle, whole, ring time.Duration }

// Ask sends a body that [Client.Body] returned, once, and reads the answer. It calls say, which
// may be nil, from the same goroutine with each piece of text as it arrives. Names in calls are
// those that the model wrote: see package toolset.
//
// Usage and cost, in micro-dollars, are what to charge, also with an error: what the provider
// reports, the bound ([Client.Bound]) if that is missing or not credible, 0 if nothing was spent.
//
// Errors: [ErrKey], [ErrNotSent], [ErrRefused], [ErrAnswer], [ErrUnknown]. ErrNotSent, ErrAnswer
// and ErrUnknown wrap the cause of ctx if it ended the call.
func (c *Client) Ask(ctx context.Context, body []byte, say func(trust.Text)) (react.Answer, react.Usage, int64, error) {
	began := time.Now()
	key, err := c.key(ctx)
	if err != nil {
		return react.Answer{}, react.Usage{}, 0, err
	}
	a := &answer{say: say, key: key}
	err = c.post(ctx, body, a)
	var out react.Answer
	if err == nil {
		out, err = a.finish()
	}
	usage, err := c.charged(body, a, err)
	cost := c.model.Price.Cost(usage)
	c.o.Log.Debug("model asked", "model", c.model.Name, "bytes", len(body), "took", time.Since(began),
		"in", usage.In, "out", usage.Out, "estimated", usage.Estimated, "cost", cost, "failed", err != nil)
	if err != nil {
		return react.Answer{}, usage, cost, c.told(err)
	}
	return out, usage, cost, nil
}

// charged returns the usage to charge for a call. An answer whose reported usage is impossible
// becomes an error.
func (c *Client) charged(body []byte, a *answer, err error) (react.Usage, error) {
	bound, _ := c.Bound(body)
	told := a.usage.In != 0 && a.usage.Out != 0 // half a report is none
	switch refused := errors.Is(err, ErrRefused); {
	case errors.Is(err, ErrNotSent), refused && !told:
		return react.Usage{}, err
	case !told, !a.ended && !refused:
		return bound, err
	case !believable(a.usage, bound):
		return bound, errors.Join(err, fmt.Errorf("%w: what it used, %d and %d tokens, cannot be", ErrAnswer, a.usage.In, a.usage.Out))
	}
	return a.usage, err
}

// told adds the name of the model to an error, and masks secrets.
func (c *Client) told(err error) error {
	return c.o.Redact.Error(fmt.Errorf("%s: %w", c.model.Name, err))
}

// post sends a body and reads the answer into a.
func (c *Client) post(parent context.Context, body []byte, a *answer) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	whole := time.AfterFunc(c.times.whole, func() { cancel(errWhole) })
	defer whole.Stop()
	var connected, begun atomic.Bool
	silence := time.AfterFunc(c.times.first, func() {
		if begun.Load() {
			cancel(errIdle)
			return
		}
		cancel(errFirst)
	})
	defer silence.Stop()
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(traced, http.MethodPost, c.endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", "eventdeck")
	for name, value := range c.wire.headers(a.key.Reveal()) {
		req.Header.Set(name, value)
	}
	client := c.httpClient()
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		why := unwrapped(ctx, err)
		if !connected.Load() {
			return fmt.Errorf("%w: %s: %w; is it running, and is its address right?", ErrNotSent, c.endpoint.Redacted(), why)
		}
		return fmt.Errorf("%w: %w", ErrUnknown, why)
	}
	defer func() { _ = res.Body.Close() }() // the rest does not matter
	if err := c.accept(res, a); err != nil {
		return err
	}
	heard := func() {
		begun.Store(true)
		silence.Reset(c.times.idle)
	}
	err = c.wire.read(newEvents(res.Body, c.stream, heard), a)
	if err != nil {
		a.ended = false // reported usage may be incomplete
	}
	if err == nil || errors.Is(err, ErrAnswer) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnknown, unwrapped(ctx, err))
}

// unwrapped returns why a request failed, without the URL.
func unwrapped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// accept refuses responses other than a stream, but keeps usage that they report.
//
// Errors: [ErrRefused], [ErrUnknown].
func (c *Client) accept(res *http.Response, a *answer) error {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode == http.StatusOK && err == nil && kind == "text/event-stream" {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxError)) // the status alone says enough
	if o, err := read(text); err == nil {
		var r reading
		if usage := r.object(o, "usage"); r.err == nil {
			c.wire.usage(usage, a)
		}
	}
	says := c.o.Redact.Text(trust.Untrusted(errorText(text)))
	if res.StatusCode == http.StatusOK {
		return fmt.Errorf("%w: the provider does not stream its answer (%q): %v", ErrUnknown, kind, says)
	}
	return &StatusError{Status: res.StatusCode, Says: says, After: retryAfter(res.Header.Get("Retry-After"))}
}
