package receiver

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"eventdeck/host/trust/strict"
)

// WellKnownKeys is the path at a server's own origin where it publishes the keys
// with which it signs deliveries as v1a (SEP-3415, webhook): a JSON Web Key Set.
const WellKnownKeys = "/.well-known/mcp-webhook-jwks.json"

// Bounds of a key set.
const (
	MaxKeySet = 64 << 10 // bytes
	MaxKeys   = 16       // of them
)

// ErrKeys: a key set is unusable.
var ErrKeys = errors.New("signing keys")

// errUnknownKey: the signature by the secret is right, and the server's key is not among those
// that are known; it may have been published since they were read.
var errUnknownKey = errors.New("signed by a key of the server that is not known")

// ParseKeys returns the ed25519 keys of a JSON Web Key Set (RFC 8037: kty OKP, crv
// Ed25519). Keys of other kinds, and those for another use than signing, are skipped.
//
// Errors: [ErrKeys], also when there is none.
func ParseKeys(set []byte) ([]ed25519.PublicKey, error) {
	if len(set) > MaxKeySet {
		return nil, fmt.Errorf("%w: the set is larger than %d bytes", ErrKeys, MaxKeySet)
	}
	members, err := strict.ParseObject(set, strict.Limits{Bytes: MaxKeySet})
	if err != nil {
		return nil, fmt.Errorf("%w: the set is no JSON object: %w", ErrKeys, err)
	}
	var list []json.RawMessage
	for _, m := range members {
		if m.Key.Raw() == "keys" {
			if err := json.Unmarshal(m.Value, &list); err != nil {
				return nil, fmt.Errorf(`%w: "keys" is no list`, ErrKeys)
			}
		}
	}
	if len(list) > MaxKeys {
		return nil, fmt.Errorf("%w: there are %d, at most %d are taken", ErrKeys, len(list), MaxKeys)
	}
	var keys []ed25519.PublicKey
	for i, raw := range list {
		key, err := parseKey(raw)
		if err != nil {
			return nil, fmt.Errorf("%w: key %d: %w", ErrKeys, i+1, err)
		}
		if key != nil {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: the set holds no Ed25519 key for signatures", ErrKeys)
	}
	return keys, nil
}

// parseKey returns an Ed25519 signing key; nil: the key is of another kind.
func parseKey(raw []byte) (ed25519.PublicKey, error) {
	members, err := strict.ParseObject(raw, strict.Limits{Bytes: MaxKeySet})
	if err != nil {
		return nil, err
	}
	field := map[string]string{}
	for _, name := range []string{"kty", "crv", "use", "x"} {
		text, _, err := stringMember(members, name)
		if err != nil {
			return nil, err
		}
		field[name] = text.Raw()
	}
	if field["kty"] != "OKP" || field["crv"] != "Ed25519" || field["use"] != "" && field["use"] != "sig" {
		return nil, nil
	}
	key, err := base64.RawURLEncoding.Strict().DecodeString(field["x"])
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf(`"x" is not the base64url of %d bytes`, ed25519.PublicKeySize)
	}
	return key, nil
}

// verifyKey checks the signature by a key of the server, beside the one by the secret. The
// secret does not prove the server, and the key does not prove the subscription.
//
// Errors: [ErrServerKey], errUnknownKey.
func (p credentials) verifyKey(body []byte, e Entry) error {
	if !p.signed {
		return ErrServerKey
	}
	signed := append([]byte(p.ID.Raw()+"."+p.timestamp+"."), body...)
	offered, found := false, false
	for _, s := range p.signatures {
		if s.version != "v1a" {
			continue
		}
		sig, err := base64.StdEncoding.Strict().DecodeString(s.value)
		if err != nil || len(sig) != ed25519.SignatureSize {
			continue
		}
		offered = true
		for _, key := range e.Keys {
			if len(key) == ed25519.PublicKeySize && ed25519.Verify(key, signed, sig) {
				found = true
			}
		}
	}
	switch {
	case found:
		return nil
	case offered && (!e.KeysFresh || len(e.Keys) == 0):
		return errUnknownKey
	}
	return ErrServerKey
}

// SignWithKey returns the v1a entry of a signature header: see [Sign].
func SignWithKey(key ed25519.PrivateKey, id string, seconds int64, body []byte) string {
	signed := append([]byte(id+"."+strconv.FormatInt(seconds, 10)+"."), body...)
	return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(key, signed))
}
