package host_test

import (
	"crypto/tls"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// A server with a certificate of an unknown authority does not look alive. Once its certificate is
// trusted again, nothing is lost.
func TestServerChangesItsCertificate(t *testing.T) {
	r := newRig(t)
	c, err := newCutter()
	if err != nil {
		t.Fatal(err)
	}
	authority := func(name string) *receiver.CA {
		ca, err := receiver.OpenCA(filepath.Join(r.dir, name), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		return ca
	}
	known, strange := authority("known"), authority("strange")
	var shown atomic.Pointer[receiver.CA]
	shown.Store(known)
	addr := serve(t, c, relay(t, r.url), func(s *http.Server) {
		s.TLSConfig = &tls.Config{GetCertificate: func(i *tls.ClientHelloInfo) (*tls.Certificate, error) { return shown.Load().GetCertificate(i) }}
	})
	r.host.AddServer(event.Server{Name: "pager", URL: "https://" + addr, CAFile: filepath.Join(r.dir, "known", "ca.pem")})
	r.subscribe(event.ModePush, host.From{})
	r.awaitStored(10)
	shown.Store(strange)
	c.cut()
	r.await("the refusal of the strange certificate", func(s host.Snapshot) bool {
		return s.Subs[0].Status.State == event.StateBackoff && strings.Contains(s.Subs[0].Status.Error.Raw(), "certificate")
	})
	shown.Store(known)
	r.awaitStored(r.host.Snapshot().Subs[0].Stored + 50)
	if _, gaps := r.ids(); gaps != 0 {
		t.Errorf("%d gaps, want none", gaps)
	}
	r.wantNumbers()
}
