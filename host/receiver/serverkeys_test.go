package receiver

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// serverKey is the key of the second published vector: the seed 00 to 1f.
func serverKey() ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(i)
	}
	return ed25519.NewKeyFromSeed(seed)
}

const serverKeyX = "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"

func TestSignatureByAServerKey(t *testing.T) {
	if got := SignWithKey(serverKey(), vectorID, vectorTime.Unix(), []byte(vectorBody)); got != ownV1a {
		t.Errorf("signature %s, want %s", got, ownV1a)
	}
	keys, err := ParseKeys([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + serverKeyX + `"}]}`))
	if err != nil || len(keys) != 1 {
		t.Fatalf("%v, %v", keys, err)
	}
	other := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	for name, tt := range map[string]struct {
		entry  Entry
		sig    func(v1, v1a string) string
		status int
		reason string
		asked  int
	}{
		"both": {
			entry: Entry{Keys: keys}, sig: func(v1, v1a string) string { return v1 + " " + v1a }, status: 204,
		},
		"not demanded": {
			sig: func(v1, _ string) string { return v1 }, status: 204,
		},
		"only the secret": {
			entry: Entry{Keys: keys}, sig: func(v1, _ string) string { return v1 }, status: 401, reason: ErrServerKey.Error(),
		},
		"only the key": {
			entry: Entry{Keys: keys}, sig: func(_, v1a string) string { return v1a }, status: 401, reason: ErrSignature.Error(),
		},
		"no keys known": {
			entry: Entry{KeyRequired: true}, sig: func(v1, v1a string) string { return v1 + " " + v1a }, status: 503, reason: ReasonKeyAwaited, asked: 1,
		},
		"a newer key": {
			entry: Entry{Keys: []ed25519.PublicKey{other.Public().(ed25519.PublicKey)}}, sig: func(v1, v1a string) string { return v1 + " " + v1a },
			status: 503, reason: ReasonKeyAwaited, asked: 1,
		},
		"a wrong key": {
			entry: Entry{KeysFresh: true, Keys: []ed25519.PublicKey{other.Public().(ed25519.PublicKey)}}, sig: func(v1, v1a string) string { return v1 + " " + v1a },
			status: 401, reason: ErrServerKey.Error(),
		},
		"broken": {
			entry: Entry{Keys: keys}, sig: func(v1, _ string) string { return v1 + " v1a,AAAA v1a,!" }, status: 401, reason: ErrServerKey.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := tt.entry
			e.Sub, e.Current = "known", vectorSecret
			e.KeyRequired = e.KeyRequired || len(e.Keys) > 0
			r := newRig(t, fakeBook{"/hooks/known": {e, PathKnown}}, true, nil)
			req := r.request("/hooks/known", vectorID, vectorBody, vectorSecret)
			req.Header.Set(HeaderSignature, tt.sig(req.Header.Get(HeaderSignature), ownV1a))
			got := r.do(req)
			if got.status != tt.status || r.lastRefusal().Reason != tt.reason || len(r.unknownKeys) != tt.asked {
				t.Errorf("%d, %q, keys asked for %d times; want %d, %q, %d", got.status, r.lastRefusal().Reason, len(r.unknownKeys), tt.status, tt.reason, tt.asked)
			}
			if want := tt.status == http.StatusNoContent; (len(r.sink.deliveries()) == 1) != want {
				t.Errorf("%d deliveries", len(r.sink.deliveries()))
			}
		})
	}
}

func TestKeySets(t *testing.T) {
	good := `{"kty":"OKP","crv":"Ed25519","use":"sig","kid":"1","x":"` + serverKeyX + `"}`
	many := func(n int) string { return `{"keys":[` + strings.TrimSuffix(strings.Repeat(good+",", n), ",") + `]}` }
	padded := func(n int) string { return many(1) + strings.Repeat(" ", n-len(many(1))) }
	for _, tt := range []struct {
		name, set string
		keys      int
	}{
		{"one", many(1), 1},
		{"others are passed over", `{"keys":[{"kty":"RSA","n":"x"},{"kty":"OKP","crv":"X25519","x":"x"},{"kty":"OKP","crv":"Ed25519","use":"enc","x":"x"},` + good + `]}`, 1},
		{"below the limit", many(MaxKeys - 1), MaxKeys - 1},
		{"at the limit", many(MaxKeys), MaxKeys},
		{"above the limit", many(MaxKeys + 1), 0},
		{"as large as may be", padded(MaxKeySet), 1},
		{"larger", padded(MaxKeySet + 1), 0},
		{"none", `{"keys":[]}`, 0},
		{"no list", `{"keys":{}}`, 0},
		{"no object", `[]`, 0},
		{"cut", many(1)[:40], 0},
		{"short key", `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}`, 0},
		{"padded key", fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"%s="}]}`, serverKeyX), 0},
		{"twice the same member", `{"keys":[],"keys":[` + good + `]}`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := ParseKeys([]byte(tt.set))
			if len(keys) != tt.keys || (err == nil) != (tt.keys > 0) || err != nil && !errors.Is(err, ErrKeys) {
				t.Errorf("%d keys, %v", len(keys), err)
			}
		})
	}
}

func TestDocumentOfTheReceiver(t *testing.T) {
	r := newRig(t, testBook(), true, func(o *Options) { o.Prefix = "/in" })
	get := func(method, host string) answer {
		req, err := http.NewRequest(method, r.base+WellKnown, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			req.Host = host
		}
		return r.do(req)
	}
	got := get(http.MethodGet, "")
	if got.status != 200 || got.body != `{"receivers":["/in/hooks/"]}`+"\n" || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", got)
	}
	if got := get(http.MethodHead, ""); got.status != 200 || got.body != "" {
		t.Errorf("HEAD: %+v", got)
	}
	if got := get(http.MethodPost, ""); got.status != 405 || got.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %+v", got)
	}
	if got := get(http.MethodGet, "evil.example"); got.status != 421 {
		t.Errorf("another host: %+v", got)
	}
}
