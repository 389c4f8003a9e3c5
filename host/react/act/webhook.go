package act

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/receiver"
)

// secretName is how a rule names its secret.
var secretName = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

func (r *Runner) prepareWebhook(req *react.Request, w react.Webhook, run react.Run, members []event.Record) error {
	req.Kind, req.URL, req.Secret, req.Private = react.RequestWebhook, w.URL, w.Secret, w.Private
	if req.Time == 0 {
		req.Time = webhookTime
	}
	var err error
	if req.Input, err = Body(run, members); err != nil {
		return err
	}
	if err := target(w.URL, w.Private); err != nil {
		return err
	}
	_, err = r.secret(w.Secret)
	return err
}

// secret returns the key that a rule names. Error: [react.ErrSecretMissing].
func (r *Runner) secret(named string) (event.Secret, error) {
	m := secretName.FindStringSubmatch(named)
	if m == nil {
		return event.Secret{}, fmt.Errorf("%w: write ${NAME}, and put the secret into that variable of the environment", react.ErrSecretMissing)
	}
	value, ok := r.o.Env(m[1])
	if !ok || value == "" {
		return event.Secret{}, fmt.Errorf("%w: the environment of eventdeck has no variable %s", react.ErrSecretMissing, m[1])
	}
	secret := event.NewSecret(value)
	if _, err := secret.WebhookKey(); err != nil {
		return event.Secret{}, fmt.Errorf("%w: variable %s: %w", react.ErrSecretMissing, m[1], err)
	}
	return secret, nil
}

// target looks at an address. What its name leads to is looked at when it is dialed.
//
// Error: [react.ErrTarget].
func target(text string, private bool) error {
	if _, err := react.ParseWebhookURL(text, private); err != nil {
		return fmt.Errorf("%w: %w", react.ErrTarget, err)
	}
	return nil
}

func (r *Runner) readyWebhook(req react.Request, h react.Handle) (react.Attempt, error) {
	if err := target(req.URL, req.Private); err != nil {
		return nil, fmt.Errorf("run %s: %w", req.Run, err)
	}
	secret, err := r.secret(req.Secret)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", req.Run, err)
	}
	return react.NewAttempt(h, func(ctx context.Context, _ react.Steps) react.Result {
		result := r.send(ctx, req, secret, h.Attempt)
		result.Ended = r.o.Now()
		return result
	}), nil
}

// maxAnswer is how much of an answer is read.
const maxAnswer = 64 << 10

// send makes one try. The id is that of the run, each time: a receiver that gets it twice knows it
// (Standard Webhooks).
func (r *Runner) send(parent context.Context, req react.Request, secret event.Secret, attempt int) react.Result {
	ctx, cancel := context.WithTimeout(parent, req.Time)
	defer cancel()
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, req.URL, bytes.NewReader(req.Input))
	if err != nil {
		return unstarted(err)
	}
	now := r.o.Now()
	signature, err := receiver.Sign(secret, string(req.Run), now, req.Input)
	if err != nil {
		return unstarted(err)
	}
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set("User-Agent", "eventdeck")
	out.Header.Set(receiver.HeaderID, string(req.Run))
	out.Header.Set(receiver.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	out.Header.Set(receiver.HeaderSignature, signature)
	client := r.client(req.Private)
	defer client.CloseIdleConnections()
	res, err := client.Do(out)
	if err != nil {
		return r.unsent(parent, attempt, err)
	}
	defer func() { _ = res.Body.Close() }() // what was read is all that is wanted
	var answer capture
	_, _ = io.Copy(&answer, io.LimitReader(res.Body, maxAnswer)) // the status says how it went
	result := react.Result{Status: res.StatusCode, Output: react.Output{Stdout: answer.stream()}}
	return r.judged(result, attempt, res.Header.Get("Retry-After"), now)
}

// client returns a client for one request. It asks no proxy, follows no redirect, and
// looks at every address that it dials, whatever the name led to before.
func (r *Runner) client(private bool) *http.Client {
	dialer := &net.Dialer{Control: func(_, dialed string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(dialed)
		if err == nil {
			err = react.CheckWebhookIP(to.Addr(), private)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", react.ErrTarget, err)
		}
		return nil
	}}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: r.o.Roots, MinVersion: tls.VersionTLS12},
			DisableKeepAlives: true, MaxResponseHeaderBytes: maxAnswer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// unsent judges a request without an answer.
func (r *Runner) unsent(ctx context.Context, attempt int, err error) react.Result {
	switch {
	case errors.Is(err, react.ErrTarget):
		return unstarted(errors.Unwrap(err))
	case ctx.Err() != nil:
		return react.Result{Outcome: react.OutcomeKilled, Why: "stopped before the answer came"}
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" && errors.Is(scarce(dial), react.ErrScarce) {
		return unstarted(dial) // nothing was sent
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the address stands in the request
	}
	return r.retry(attempt, 0, react.Result{Why: "no answer: " + err.Error()})
}

// judged says what an answer means (Standard Webhooks: 2xx is done, 410 is final).
func (r *Runner) judged(result react.Result, attempt int, retryAfter string, now time.Time) react.Result {
	result.Why = fmt.Sprintf("HTTP %d", result.Status)
	switch status := result.Status; {
	case status >= 200 && status < 300:
		result.Outcome = react.OutcomeDone
		return result
	case status == http.StatusGone, status == http.StatusRequestEntityTooLarge:
		result.Outcome = react.OutcomeFailed
		return result
	case status >= 300 && status < 400:
		result.Why += ": a redirect, which is not followed"
	}
	return r.retry(attempt, wanted(retryAfter, now), result)
}

// maxRetryAfter bounds what a receiver may ask for.
const maxRetryAfter = time.Hour

// wanted reads Retry-After: seconds, or a moment (RFC 9110, section 10.2.3).
func wanted(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// backoff is how long is waited after each try: all of them fall into an hour.
var backoff = [react.WebhookTries - 1]time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 25 * time.Minute}

// retry completes the result of a try that failed: when the next one may be.
func (r *Runner) retry(attempt int, least time.Duration, result react.Result) react.Result {
	result.Outcome = react.OutcomeRetry
	wait := backoff[min(max(attempt, 1), len(backoff))-1]
	wait += time.Duration(r.o.Jitter() * float64(wait) / 5)
	result.After = max(wait, least)
	if result.Ended.IsZero() {
		result.Ended = r.o.Now()
	}
	return result
}
