package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

func TestTailGivesUpOnTheFirstConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.standIn.connect = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}
		began := time.Now()
		b.expect(t, exitError, "cannot connect: pager did not answer within 10s", "tail", "pager", "incident.created")
		if took := time.Since(began); took >= 10*time.Second {
			t.Errorf("took %v", took)
		}
		b = newBench(t)
		b.standIn.subscribe = func(ctx context.Context, _ host.Request) error {
			<-ctx.Done()
			return ctx.Err()
		}
		b.expect(t, exitError, "the subscription was not confirmed within 30s", "tail", "pager", "incident.created")
	})
}

// An open stream that says nothing confirms nothing: with --for the exit code is 3, without it
// a first connection has 10 s.
func TestTailTakesSilenceForNoConfirmation(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		code int
		says string
		took time.Duration
	}{
		"--for":    {[]string{"--for", "40s"}, exitNotMet, "not met in time: --for 40s was over before pager confirmed the subscription: the server said nothing about it\n", 40 * time.Second},
		"no --for": {nil, exitError, "the subscription was not confirmed within 10s", 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				key := event.Key{Server: "pager", Type: trust.Untrusted("incident.created"), Args: []byte("{}")}
				b.standIn.subscribe = func(context.Context, host.Request) error {
					b.store.change(key.ID(), func(sub *event.Subscription) { sub.Key = key })
					return host.ErrUnconfirmed // beside the subscription, which stays
				}
				began := time.Now()
				b.expect(t, tt.code, tt.says, append([]string{"tail", "pager", "incident.created"}, tt.args...)...)
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// --for bounds the retries: transient failures are retried until it is over, and others are
// reported at once.
func TestTailTriesAgainUntilForIsOver(t *testing.T) {
	quota := &wire.Error{Code: wire.ProfileSEP.Code(wire.ResourceExhausted), Message: trust.Untrusted("too many")}
	for name, tt := range map[string]struct {
		connect, subscribe error
		heals              time.Duration // after which neither fails; 0: never
		code               int
		took               time.Duration
	}{
		"unreachable":        {fmt.Errorf("%w: refused", host.ErrUnreachable), nil, 0, exitNotMet, 40 * time.Second},
		"unreachable for 20": {fmt.Errorf("%w: refused", host.ErrUnreachable), nil, 20 * time.Second, exitDone, 40 * time.Second},
		"quota":              {nil, quota, 0, exitNotMet, 40 * time.Second},
		"quota for 20":       {nil, quota, 20 * time.Second, exitDone, 40 * time.Second},
		"no rights":          {fmt.Errorf("%w: HTTP 401", host.ErrRefused), nil, 0, exitRefused, 0},
		"bad request":        {nil, &wire.Error{Code: wire.CodeInvalidParams}, 0, exitError, 0},
		"no such type":       {nil, host.ErrUnknownType, 0, exitError, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				began := time.Now()
				until := func(err error) error {
					if tt.heals > 0 && time.Since(began) >= tt.heals {
						return nil
					}
					return err
				}
				b.standIn.connect = func(context.Context, string) error { return until(tt.connect) }
				b.standIn.subscribe = func(context.Context, host.Request) error { return until(tt.subscribe) }
				code := b.run(t, "tail", "pager", "incident.created", "--for", "40s")
				if took := time.Since(began); code != tt.code || took != tt.took {
					t.Errorf("code %d after %v, want %d after %v", code, took, tt.code, tt.took)
				}
				lines := strings.Count(b.err.String(), "\n")
				if tt.code != exitDone {
					lines-- // why it ended
				}
				if throttled := strings.Count(b.err.String(), "pager is throttled until "); throttled != lines || (throttled == 1) != (tt.subscribe == quota) {
					t.Errorf("it says %q", b.err.String())
				}
			})
		})
	}
}

func TestTailSaysWhyASubscriptionIsNotConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.attempts = 3
		b.trouble = trust.Untrusted("server answered CallbackEndpointError (-32027) (reason tls_error)")
		key := event.Key{Server: "pager", Type: trust.Untrusted("incident.created"), Args: []byte("{}")}
		b.standIn.subscribe = func(ctx context.Context, _ host.Request) error {
			b.store.change(key.ID(), func(sub *event.Subscription) { sub.Key = key })
			<-ctx.Done()
			return ctx.Err()
		}
		began := time.Now()
		b.expect(t, exitError, "not confirmed within 9s: server answered CallbackEndpointError (-32027) (reason tls_error)", "tail", "pager", "incident.created", "--data", "d")
		if took := time.Since(began); took >= 10*time.Second {
			t.Errorf("took %v", took)
		}
		if len(b.verbs) != 1 || b.verbs[0] != "rm "+string(key.ID()) {
			t.Errorf("not taken back: %v", b.verbs)
		}
		b.trouble = trust.Text{}
		code := b.run(t, "tail", "pager", "incident.created", "--data", "d")
		if !strings.Contains(b.err.String(), "within 9s: the server ends it at once") {
			t.Errorf("says %q", b.err.String())
		}
		if code != exitError || len(b.verbs) != 1 {
			t.Errorf("code %d; one that was there before must stay: %v", code, b.verbs)
		}
	})
}
