package eventserver

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"eventdeck/host/receiver"
)

// NewServerKey makes the key of a server.
//
// Error: that of random.
func NewServerKey(random io.Reader) (ed25519.PrivateKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("no randomness for the server's key: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// ServeKeys answers [receiver.WellKnownKeys] with a set of one key (RFC 8037).
func ServeKeys(key ed25519.PrivateKey) http.HandlerFunc {
	public := key.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(public)
	set, err := json.Marshal(map[string]any{"keys": []map[string]string{{
		"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA",
		"kid": base64.RawURLEncoding.EncodeToString(sum[:8]), "x": base64.RawURLEncoding.EncodeToString(public),
	}}})
	if err != nil {
		panic("eventserver: a key set is no JSON: " + err.Error())
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "GET only", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(set) // a client that is gone asks again
	}
}

// signatures returns the entries of a delivery's signature header: one for each secret, the newest
// first, and one for the server's own key if it has one.
func (s *Sender) signatures(d Delivery, at time.Time) ([]string, error) {
	var signatures []string
	for _, secret := range d.Secrets {
		proof, err := receiver.Sign(secret, d.WebhookID, at, d.Body)
		if err != nil {
			return nil, err
		}
		signatures = append(signatures, proof)
	}
	if s.Key != nil {
		signatures = append(signatures, receiver.SignWithKey(s.Key, d.WebhookID, at.Unix(), d.Body))
	}
	return signatures, nil
}
