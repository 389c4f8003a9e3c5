package host_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/store"
)

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// client trusts the local authority of the rig.
func (r *rig) client() *http.Client {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, "ca", "ca.pem"))
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(raw) {
		r.t.Fatal(err)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
}

// webhook subscribes by webhook, waits until so many events are stored, and returns the
// subscription as it is then.
func (r *rig) webhook(events uint64) event.Subscription {
	r.t.Helper()
	sub := r.subscribe(event.ModeWebhook, host.From{})
	r.awaitStored(events)
	stored, err := r.store.Subscription(sub.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return stored
}

// bareHost returns a host without servers on the store; the test's end closes both.
func bareHost(t *testing.T, s *store.Store) *host.Host {
	t.Helper()
	h, err := host.New(host.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(h.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return h
}
