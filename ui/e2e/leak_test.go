package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// search searches what the program left for secrets, in every encoding in which they may have
// leaked, and for parts of them.
type search map[string][]byte // what must not be found, by what it is

// part is the length from which a part of a secret counts as a leak. A masked secret shows
// four characters.
const part = 16

func (s search) add(what, secret string) {
	s.parts(what, []byte(secret))
	for shift := range 3 { // base64 looks different at each place in a triple
		padded := append(make([]byte, shift), secret...)
		for name, enc := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
			text := enc.EncodeToString(padded)[[]int{0, 2, 3}[shift]:]
			s.parts(fmt.Sprintf("%s in %s at %d", what, name, shift), []byte(text[:len(text)-1]))
		}
	}
	s.parts(what+" in hex", []byte(hex.EncodeToString([]byte(secret))))
	s.parts(what+" in HEX", []byte(strings.ToUpper(hex.EncodeToString([]byte(secret)))))
	s.parts(what+" in a URL", []byte(url.QueryEscape(secret)))
	if text, ok := strings.CutPrefix(secret, "whsec_"); ok {
		s.parts(what+" without its prefix", []byte(text))
		if key, err := base64.StdEncoding.DecodeString(text); err == nil {
			s.parts(what+" decoded", key)
			s.parts(what+" decoded in hex", []byte(hex.EncodeToString(key)))
		}
	}
}

// key adds a key that is kept in base64: the encoded text and its bytes.
func (s search) key(what, kept string) {
	s.add(what, kept)
	if raw, err := base64.StdEncoding.DecodeString(kept); err == nil {
		s.add(what+" decoded", string(raw))
	}
}

// parts adds the beginning, the middle and the end of a secret.
func (s search) parts(what string, secret []byte) {
	n := len(secret)
	if n <= part {
		s[what] = secret
		return
	}
	s["beginning of the "+what] = secret[:part]
	s["middle of the "+what] = secret[(n-part)/2:][:part]
	s["end of the "+what] = secret[n-part:]
}

// finds returns the secrets that are in the text, with the text before each.
func (s search) finds(text []byte) (found []string) {
	for what, secret := range s {
		if at := bytes.Index(text, secret); at >= 0 {
			found = append(found, fmt.Sprintf("%s: …%q…", what, text[max(0, at-80):at]))
		}
	}
	slices.Sort(found)
	return found
}

// The search finds a secret however it leaks, and finds none in a masked one.
func TestSearchFindsALeak(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwAAECAwQ="
	key, err := base64.StdEncoding.DecodeString(secret[len("whsec_"):])
	if err != nil {
		t.Fatal(err)
	}
	find := search{}
	find.add("secret", secret)
	for name, leak := range map[string]string{
		"clear":                  secret,
		"in a log":               `level=INFO msg="x" secret=` + secret + " n=1",
		"cut":                    secret[:20] + "…",
		"its end":                "…" + secret[20:],
		"without its prefix":     secret[6:],
		"decoded":                string(key),
		"decoded in hex":         hex.EncodeToString(key),
		"in a URL":               "?s=" + url.QueryEscape(secret),
		"in base64":              base64.StdEncoding.EncodeToString([]byte(secret)),
		"in base64 of a line":    base64.StdEncoding.EncodeToString([]byte("1" + secret + "\n")),
		"in base64 of JSON":      base64.StdEncoding.EncodeToString([]byte(`{"s":"` + secret + `"}`)),
		"in base64url of a pair": base64.RawURLEncoding.EncodeToString([]byte("ab" + secret)),
		"in hex":                 fmt.Sprintf("%x", secret),
		"in HEX":                 fmt.Sprintf("%X", secret),
	} {
		if len(find.finds([]byte("before "+leak+" after"))) == 0 {
			t.Errorf("not found %s: %s", name, leak)
		}
	}
	if found := find.finds([]byte("whsec_…AwQ= and whsec_" + strings.Repeat("A", 43) + "=")); len(found) > 0 {
		t.Errorf("found in what holds none: %q", found)
	}
}
