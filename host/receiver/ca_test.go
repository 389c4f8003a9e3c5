package receiver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock is a time that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func openCA(t *testing.T, dir string, c *clock) *CA {
	t.Helper()
	ca, err := OpenCA(dir, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func leafOf(t *testing.T, ca *CA) *x509.Certificate {
	t.Helper()
	cert, err := ca.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return cert.Leaf
}

func poolOf(t *testing.T, ca *CA) *x509.CertPool {
	t.Helper()
	raw, err := os.ReadFile(ca.CertPath())
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(raw) {
		t.Fatal(err)
	}
	return pool
}

func verify(leaf *x509.Certificate, pool *x509.CertPool, name string, at time.Time) error {
	_, err := leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: name, CurrentTime: at})
	return err
}

func TestCAFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "ca")
	c := &clock{vectorTime}
	ca := openCA(t, dir, c)
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		if err := verify(leafOf(t, ca), poolOf(t, ca), name, c.t); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("files %v, %v", entries, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	want := map[string]fs.FileMode{dir: 0o700, ca.CertPath(): 0o600, filepath.Join(dir, "ca.key"): 0o600}
	for path, mode := range want {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for path := range want {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	openCA(t, dir, c)
	for _, path := range []string{dir, filepath.Join(dir, "ca.key")} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s was not tightened: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestCAIsConstrained(t *testing.T) {
	c := &clock{vectorTime}
	ca := openCA(t, t.TempDir(), c)
	authority, err := ca.loadCert()
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"evil.example", "10.0.0.1"} {
		template := &x509.Certificate{NotBefore: c.t, NotAfter: c.t.Add(time.Hour)}
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = []net.IP{ip}
		} else {
			template.DNSNames = []string{name}
		}
		leaf, err := sign(template, authority, key, ca.key)
		if err != nil {
			t.Fatal(err)
		}
		var invalid x509.CertificateInvalidError
		if err := verify(leaf, poolOf(t, ca), name, c.t); !errors.As(err, &invalid) || invalid.Reason != x509.CANotAuthorizedForThisName {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCARenews(t *testing.T) {
	dir := t.TempDir()
	c := &clock{vectorTime}
	ca := openCA(t, dir, c)
	first, oldPool := leafOf(t, ca), poolOf(t, ca)
	c.t = first.NotAfter.Add(-leafRenew - time.Second)
	if leafOf(t, ca) != first {
		t.Error("the leaf was renewed too early")
	}
	c.t = first.NotAfter.Add(-leafRenew)
	second := leafOf(t, ca)
	if second == first {
		t.Error("the leaf was not renewed")
	}
	// After the authority's renewal and before the old certificate expires, both certificates are valid
	// for the leaf.
	c.t = vectorTime.Add(caLife - 24*time.Hour)
	third := leafOf(t, ca)
	for name, pool := range map[string]*x509.CertPool{"old": oldPool, "new": poolOf(t, ca)} {
		if err := verify(third, pool, "localhost", c.t); err != nil {
			t.Errorf("%s authority: %v", name, err)
		}
	}
	c.t = vectorTime.Add(3 * caLife)
	if err := verify(leafOf(t, ca), poolOf(t, ca), "localhost", c.t); err != nil {
		t.Errorf("after years: %v", err)
	}
	// After the clock was set back both are made anew, instead of serving certificates that are not valid
	// yet.
	c.t = vectorTime
	if err := verify(leafOf(t, openCA(t, dir, c)), poolOf(t, ca), "localhost", c.t); err != nil {
		t.Errorf("clock set back: %v", err)
	}
}

func TestCAKeepsValidLeafWhenItCannotRenew(t *testing.T) {
	dir := t.TempDir()
	c := &clock{vectorTime}
	ca := openCA(t, dir, c)
	first := leafOf(t, ca)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	c.t = first.NotAfter.Add(-time.Hour)
	if leafOf(t, ca) != first {
		t.Error("another leaf, without a directory for its authority")
	}
	c.t = first.NotAfter.Add(time.Hour)
	if _, err := ca.GetCertificate(nil); !errors.Is(err, ErrCA) {
		t.Errorf("with an ended leaf: %v", err)
	}
}

func TestCAOpenedByManyAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ca")
	c := &clock{vectorTime}
	cas := make([]*CA, 8)
	var wg sync.WaitGroup
	for i := range cas {
		wg.Go(func() {
			ca, err := OpenCA(dir, c.now)
			if err != nil {
				t.Errorf("OpenCA: %v", err)
				return
			}
			cas[i] = ca
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	pool := poolOf(t, cas[0])
	for i, ca := range cas {
		if err := verify(leafOf(t, ca), pool, "localhost", c.t); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCADamage(t *testing.T) {
	c := &clock{vectorTime}
	other := openCA(t, t.TempDir(), c)
	foreign, err := os.ReadFile(other.CertPath())
	if err != nil {
		t.Fatal(err)
	}
	for name, cert := range map[string]string{"foreign": string(foreign), "empty": "", "not PEM": "x", "not DER": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		dir := t.TempDir()
		ca := openCA(t, dir, c)
		if err := os.WriteFile(ca.CertPath(), []byte(cert), 0o600); err != nil {
			t.Fatal(err)
		}
		again := openCA(t, dir, c)
		if err := verify(leafOf(t, again), poolOf(t, again), "localhost", c.t); err != nil {
			t.Errorf("%s certificate: %v", name, err)
		}
	}
	for name, key := range map[string]string{"empty": "", "not PEM": "x", "not DER": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "ca.key")
		if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenCA(dir, c.now); !errors.Is(err, ErrCA) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s key: %v", name, err)
		}
	}
}

func TestCARefusesOddFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "ca.key"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		if _, err := OpenCA(path, nil); !errors.Is(err, ErrCA) {
			t.Errorf("OpenCA(%s): %v", filepath.Base(path), err)
		}
	}
}
