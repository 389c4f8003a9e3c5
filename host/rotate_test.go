package host_test

import (
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// signedBy posts an event signed with a secret and returns the status.
func (r *rig) signedBy(url string, secret event.Secret, id string) int {
	r.t.Helper()
	client := r.client()
	defer client.CloseIdleConnections()
	return r.deliverAs(client, url, secret, id)
}

func TestRotateSecret(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModeWebhook, host.From{})
	r.awaitStored(5)
	hook := func() event.Hook {
		s, err := r.store.Subscription(sub.ID)
		if err != nil {
			t.Fatal(err)
		}
		return s.Hook
	}
	old := hook()
	if err := r.host.RotateSecret(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	if h := hook(); h.Secret == old.Secret || h.Previous != old.Secret || h.URL != old.URL {
		t.Fatalf("%+v", h)
	}
	r.awaitStored(r.host.Snapshot().Subs[0].Stored + 20)
	r.await("a delivery with the new secret", func(host.Snapshot) bool {
		return slices.Contains(r.acts(), "security: new secret seen")
	})
	if until := hook().Until; until.After(time.Now().Add(11 * time.Minute)) {
		t.Errorf("the old one is accepted until %v", until)
	}
	// A delivery with the old secret is still taken.
	if got := r.signedBy(old.URL, old.Secret, "late"); got != http.StatusNoContent {
		t.Errorf("signed with the old secret: %d", got)
	}
	if err := r.host.RotateSecret(r.ctx(), sub.ID); err != nil {
		t.Errorf("again: %v", err)
	}
	if got := r.signedBy(old.URL, old.Secret, "later"); got != http.StatusUnauthorized {
		t.Errorf("signed with the secret before the last: %d", got)
	}
	if _, gaps := r.ids(); gaps != 0 {
		t.Errorf("%d gaps", gaps)
	}
	if !slices.Contains(r.acts(), "operator: rotate secret") {
		t.Errorf("acts %q", r.acts())
	}
}

func TestRotateSecretErrors(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModePush, host.From{})
	if err := r.host.RotateSecret(r.ctx(), sub.ID); !errors.Is(err, host.ErrMode) {
		t.Errorf("without a webhook: %v", err)
	}
	if err := r.host.RotateSecret(r.ctx(), "nobody"); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
	if err := r.host.SetMode(r.ctx(), sub.ID, event.ModeWebhook); err != nil {
		t.Fatal(err)
	}
	if err := r.host.Pause(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.host.RotateSecret(r.ctx(), sub.ID); err != nil {
		t.Errorf("while paused: %v", err)
	}
	if err := r.host.RotateSecret(r.ctx(), sub.ID); !errors.Is(err, delivery.ErrRotating) {
		t.Errorf("before the new one was seen: %v", err)
	}
	got := slices.DeleteFunc(r.acts(), func(s string) bool { return strings.HasPrefix(s, "security") })
	if want := []string{"operator: pause", "operator: rotate secret", "operator: rotate secret"}; !slices.Equal(got[len(got)-3:], want) {
		t.Errorf("acts %q", got)
	}
}

// inTurn is a source of randomness that waits before given reads. The runner of a new webhook
// subscription reads a path and then a secret, and the operator's rotation reads a third value.
type inTurn struct {
	mu     sync.Mutex
	reads  int
	before map[int]func() // by the number of the read, from 1
}

func (r *inTurn) Read(b []byte) (int, error) {
	r.mu.Lock()
	r.reads++
	wait := r.before[r.reads]
	r.mu.Unlock()
	if wait != nil {
		wait()
	}
	return rand.Read(b)
}

// The operator rotates while the runner makes the first secret: what the runner stored
// and told the server is accepted until the new one is there.
func TestRotationKeepsTheSecretThatTheRunnerMakesMeanwhile(t *testing.T) {
	making, rotating := make(chan struct{}), make(chan struct{})
	random := new(inTurn)
	r := &rig{t: t, dir: t.TempDir(), random: random}
	r.url = r.pager("127.0.0.1:0")
	r.open()
	var first event.Secret
	random.before = map[int]func(){
		2: func() { // the runner's
			close(making)
			<-rotating
		},
		3: func() { // the operator's, who has read the subscription
			close(rotating)
			r.await("the runner's secret", func(s host.Snapshot) bool {
				first = s.Subs[0].Hook.Secret
				return !first.IsZero()
			})
		},
	}
	done := make(chan error, 1)
	go func() {
		_, err := r.host.Subscribe(r.ctx(), host.Request{Server: "pager", Type: trust.Untrusted("load.tick"), Mode: event.ModeWebhook})
		done <- err
	}()
	<-making
	sub := r.host.Snapshot().Subs[0]
	if err := r.host.RotateSecret(r.ctx(), sub.ID); err != nil {
		t.Errorf("rotating: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("subscribing: %v", err)
	}
	got, err := r.store.Subscription(sub.ID)
	if err != nil || got.Hook.Secret == first || got.Hook.Previous != first {
		t.Errorf("the runner's secret is not accepted any more: %+v, %v", got.Hook, err)
	}
}
