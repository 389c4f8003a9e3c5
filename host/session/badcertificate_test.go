package session

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// shown makes a self-signed certificate, and a file of authorities that holds it.
func shown(t *testing.T, from, to time.Time, ip net.IP) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: from, NotAfter: to,
		IPAddresses: []net.IP{ip}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// The error for a refused certificate says why and what to do; nothing is sent to such a
// server.
func TestRefusedCertificatesAreExplained(t *testing.T) {
	now, day := time.Now(), 24*time.Hour
	loopback, other := net.IPv4(127, 0, 0, 1), net.IPv4(192, 0, 2, 1)
	for name, tt := range map[string]struct {
		from, to time.Time
		ip       net.IP
		strange  bool // the authority is unknown
		key      bool // the key is that of another certificate
		says     []string
	}{
		"good":              {from: now.Add(-day), to: now.Add(day), ip: loopback},
		"expired":           {from: now.Add(-2 * day), to: now.Add(-day), ip: loopback, says: []string{"certificate has expired", "renewed", "clock"}},
		"not yet valid":     {from: now.Add(day), to: now.Add(2 * day), ip: loopback, says: []string{"not yet valid", "clock"}},
		"wrong host":        {from: now.Add(-day), to: now.Add(day), ip: other, says: []string{"valid for 192.0.2.1, not 127.0.0.1", "name that the certificate has"}},
		"unknown authority": {from: now.Add(-day), to: now.Add(day), ip: loopback, strange: true, says: []string{"unknown authority", "caFile"}},
		"another's key":     {from: now.Add(-day), to: now.Add(day), ip: loopback, key: true, says: []string{"server cannot be reached: 127.0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			certificate, file := shown(t, tt.from, tt.to, tt.ip)
			another, strange := shown(t, tt.from, tt.to, tt.ip)
			if tt.key {
				certificate.PrivateKey = another.PrivateKey
			}
			if tt.strange {
				file = strange
			}
			asked := make(chan struct{}, 1)
			f := modernFake(t, map[string]func(ask){wire.MethodStream: func(ask) {}, methodDiscover: func(a ask) {
				asked <- struct{}{}
				a.result(sepGreeting)
			}})
			secure := httptest.NewUnstartedServer(f)
			secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
			secure.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
			secure.StartTLS()
			defer secure.Close()
			s, err := Dial(soon(t), event.Server{Name: "x", URL: secure.URL, CAFile: file}, Options{})
			if len(tt.says) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				s.Close()
				return
			}
			if !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v", err)
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if len(asked) > 0 {
				t.Error("it was asked all the same")
			}
		})
	}
}
