package signin

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzToken: every accepted token is valid in a header, and no control characters of the response
// get into errors.
func FuzzToken(f *testing.F) {
	for _, seed := range []string{
		`{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":"r","scope":"x y"}`, `{"access_token":"a","expires_in":"3600"}`,
		`{"access_token":"a\nb"}`, `{"access_token":"é"}`, `{"token_type":"\u001b[31m"}`, `{"access_token":"a","expires_in":-1e400}`, `{"access_token":"a","scope":null}`, `[]`, `"x"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := readToken(body)
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
				t.Errorf("live control characters in %q", err)
			}
			return
		}
		req, err := http.NewRequest(http.MethodGet, "http://h/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+got.access.Reveal())
		var b strings.Builder
		if err := req.Write(&b); err != nil || !strings.Contains(b.String(), "\r\nAuthorization: Bearer "+got.access.Reveal()+"\r\n") {
			t.Errorf("%q cannot be sent: %v", got.access.Reveal(), err)
		}
		if got.lifetime < 0 {
			t.Errorf("a lifetime of %v", got.lifetime)
		}
		for _, s := range got.scopes {
			if strings.ContainsAny(s, " \"\\\x00\x1b\r\n") {
				t.Errorf("scope %q", s)
			}
		}
	})
}

// FuzzCovers: metadata cover an address only on its origin and at or above its path.
func FuzzCovers(f *testing.F) {
	for _, seed := range []string{"https://h/mcp", "https://h", "https://h/", "https://h:443/mcp", "https://h/m", "https://h@evil/mcp", "http://h/mcp", "https://evil/mcp", "https://h/mcp?x", "https://h/mcp#x", "//h/mcp", "https://h/%6dcp", "https://h/./mcp"} {
		f.Add(seed)
	}
	own, err := url.Parse("https://h/mcp")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, resource string) {
		if !covers(resource, own) {
			return
		}
		u, err := url.Parse(resource)
		if err != nil || !strings.EqualFold(u.Scheme, "https") || !strings.EqualFold(u.Hostname(), "h") || u.Port() != "" && u.Port() != "443" || u.User != nil {
			t.Errorf("%q covers %v", resource, own)
		}
		if p := strings.TrimRight(u.EscapedPath(), "/"); p != "" && p != "/mcp" {
			t.Errorf("%q covers %v", resource, own)
		}
	})
}

// FuzzChallenge: no refusal makes the host ask for an invalid scope.
func FuzzChallenge(f *testing.F) {
	for _, seed := range []string{`Bearer realm="x", resource_metadata="https://h/x", scope="a b", error="insufficient_scope"`, `Basic, Bearer scope=a`, `Bearer scope="\u202e"`, `"`, `Bearer =`, `Bearer scope="a`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, s := range readChallenge([]string{value}).scopes {
			if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= 0x20 || r > 0x7e || r == '"' || r == '\\' }) {
				t.Errorf("scope %q of %q", s, value)
			}
		}
	})
}
