package host_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// signedBy posts an event signed with a secret and returns the status.
func (r *rig) signedBy(url string, secret event.Secret, id string) int {
	r.t.Helper()
	client := r.client()
	defer client.CloseIdleConnections()
	now := time.Now()
	body := fmt.Sprintf(`{"eventId":%q,"name":"load.tick","timestamp":"2026-01-01T00:00:00Z","data":{"n":0}}`, id)
	sig, err := receiver.Sign(secret, id, now, []byte(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "webhook-id": id, "webhook-signature": sig, "webhook-timestamp": unix(now), "X-MCP-Subscription-Id": "s"} {
		req.Header.Set(k, v)
	}
	resp, err := client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
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
	// One that was signed before is still taken.
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

func TestRotateSecretSaysWhyNot(t *testing.T) {
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
