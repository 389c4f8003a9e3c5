package receiver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Lifetimes. An authority is renewed so early that no leaf outlives it.
const (
	caLife     = 365 * 24 * time.Hour
	caRenew    = 120 * 24 * time.Hour
	leafLife   = 90 * 24 * time.Hour
	leafRenew  = 30 * 24 * time.Hour
	clockSlack = time.Hour // certificates begin this much in the past
)

// ErrCA is the root of every reason for which the local certificate authority
// cannot be used.
var ErrCA = errors.New("local certificate authority")

// CA is the local certificate authority. It certifies localhost, 127.0.0.1 and ::1 only, by the
// name constraints of its certificate too. This program never adds it to a trust store.
//
// Its key stays when its certificate is renewed: a server that trusts the old certificate
// accepts later leaves until that certificate expires, and processes that renew at the same
// time cannot disagree.
type CA struct {
	dir string
	now func() time.Time
	key *ecdsa.PrivateKey

	mu   sync.Mutex
	leaf *tls.Certificate
}

// OpenCA opens the authority kept in dir, and makes it on first use. The
// directory gets mode 0700 and its files 0600. Several processes may call it at
// once: they get the same authority. An empty dir is [DefaultCADir], a nil now
// [time.Now].
//
// Errors: [ErrCA].
func OpenCA(dir string, now func() time.Time) (*CA, error) {
	if now == nil {
		now = time.Now
	}
	if dir == "" {
		var err error
		if dir, err = DefaultCADir(); err != nil {
			return nil, err
		}
	}
	if err := secureDir(dir); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCA, err)
	}
	key, err := loadKey(filepath.Join(dir, "ca.key"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCA, err)
	}
	ca := &CA{dir: dir, now: now, key: key}
	ca.mu.Lock()
	defer ca.mu.Unlock()
	if err := ca.renew(); err != nil {
		return nil, err
	}
	return ca, nil
}

// CertPath returns the path of the authority's certificate (PEM): the file that
// a sender must be told to trust.
func (ca *CA) CertPath() string { return certPath(ca.dir) }

// GetCertificate returns a certificate for the receiver, renewed when needed.
// It fits [tls.Config] and [Options].
//
// Errors: [ErrCA], when it cannot be renewed and the present one has expired.
func (ca *CA) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	ca.mu.Lock()
	defer ca.mu.Unlock()
	if ca.leaf != nil && current(ca.leaf.Leaf, ca.now(), leafRenew) {
		return ca.leaf, nil
	}
	if err := ca.renew(); err != nil {
		if ca.leaf != nil && current(ca.leaf.Leaf, ca.now(), 0) {
			return ca.leaf, nil
		}
		return nil, err
	}
	return ca.leaf, nil
}

// renew brings the authority's certificate up to date and makes a new leaf.
// ca.mu is held.
func (ca *CA) renew() error {
	cert, err := ca.loadCert()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCA, err)
	}
	leaf, err := newLeaf(cert, ca.key, ca.now())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCA, err)
	}
	ca.leaf = leaf
	return nil
}

// loadCert returns the authority's certificate. It makes it anew from the key if it is missing,
// damaged, of another key, or near its expiry.
func (ca *CA) loadCert() (*x509.Certificate, error) {
	raw, err := os.ReadFile(ca.CertPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if block, _ := pem.Decode(raw); block != nil {
		cert, err := x509.ParseCertificate(block.Bytes)
		if err == nil && ca.key.PublicKey.Equal(cert.PublicKey) && current(cert, ca.now(), caRenew) {
			return cert, nil
		}
	}
	cert, err := newAuthority(ca.key, ca.now())
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
	return cert, writeAtomic(ca.CertPath(), text, os.Rename)
}

// current reports whether cert has begun and stays valid for longer than spare.
func current(cert *x509.Certificate, now time.Time, spare time.Duration) bool {
	return !now.Before(cert.NotBefore) && now.Add(spare).Before(cert.NotAfter)
}

func newAuthority(key *ecdsa.PrivateKey, now time.Time) (*x509.Certificate, error) {
	template := &x509.Certificate{
		Subject:                     pkix.Name{CommonName: "eventdeck local authority"},
		NotBefore:                   now.Add(-clockSlack),
		NotAfter:                    now.Add(caLife),
		IsCA:                        true,
		BasicConstraintsValid:       true,
		MaxPathLenZero:              true,
		KeyUsage:                    x509.KeyUsageCertSign,
		ExtKeyUsage:                 []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         []string{"localhost"},
		PermittedIPRanges: []*net.IPNet{
			{IP: net.IPv4(127, 0, 0, 1).To4(), Mask: net.CIDRMask(32, 32)},
			{IP: net.IPv6loopback, Mask: net.CIDRMask(128, 128)},
		},
	}
	return sign(template, template, key, key)
}

func newLeaf(authority *x509.Certificate, signer *ecdsa.PrivateKey, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	cert, err := sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "localhost"},
		NotBefore:   now.Add(-clockSlack),
		NotAfter:    now.Add(leafLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}, authority, key, signer)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{
		Certificate: [][]byte{cert.Raw, authority.Raw},
		PrivateKey:  key,
		Leaf:        cert,
	}, nil
}

func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (*x509.Certificate, error) {
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(raw)
}

// loadKey reads the authority's key, or makes it if there is none. Of several
// processes that make one, the first wins and the others read it.
func loadKey(path string) (*ecdsa.PrivateKey, error) {
	raw, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := createKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		raw, err = readPrivate(path)
	}
	if err != nil {
		return nil, err
	}
	damaged := fmt.Errorf("%s is not a private key; remove it, and a new authority is made, which senders must be told to trust", path)
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, damaged
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, damaged
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, damaged
	}
	return key, nil
}

func createKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	// A hard link is made whole or not at all, and fails when the name exists.
	return writeAtomic(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), os.Link)
}
