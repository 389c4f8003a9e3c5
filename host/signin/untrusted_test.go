package signin_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/signin"
	"eventdeck/host/signin/signintest"
)

// override makes the authority answer a path with a fixed response.
func (r *rig) override(path string, status int, body string) {
	r.authority.Override = func(w http.ResponseWriter, req *http.Request) bool {
		if req.URL.Path != path {
			return false
		}
		kind := "application/json"
		if strings.HasPrefix(body, "<") {
			kind = "text/html"
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		w.Write([]byte(body))
		return true
	}
}

func TestBadTokenResponses(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"HTML":            {200, "<html><h1>Welcome", "text/html"},
		"HTML refusal":    {403, "<html>", "text/html"},
		"no JSON":         {200, "{{{", "JSON"},
		"no token":        {200, `{"token_type":"Bearer"}`, "no access token"},
		"another type":    {200, `{"access_token":"x","token_type":"mac"}`, "mac"},
		"a line break":    {200, `{"access_token":"x\r\nX-Evil: 1","token_type":"Bearer"}`, "no header"},
		"a list":          {200, `[]`, "JSON"},
		"an error":        {400, `{"error":"invalid_request","error_description":"\u001b[31mred"}`, "invalid_request"},
		"error, no name":  {418, `{}`, "HTTP 418"},
		"too large":       {200, `{"a":"` + strings.Repeat("x", 2<<20) + `"}`, "1 MiB"},
		"out of order":    {503, `{}`, "HTTP 503"},
		"too many of you": {429, `{}`, "HTTP 429"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) { r.override("/token", c.status, c.body) })
			err := r.signIn()
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "token endpoint 127.0.0.1") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n\r") {
				t.Errorf("live control characters in %q", err)
			}
			if r.account.SignedIn() {
				t.Error("signed in all the same")
			}
		})
	}
}

// A proxy before an authorization server may compress what it says.
func TestCompressedMetadataAreRead(t *testing.T) {
	r := newRig(t, nil)
	r.authority.Override = func(w http.ResponseWriter, req *http.Request) bool {
		if !strings.HasPrefix(req.URL.Path, "/.well-known/") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		defer zip.Close()
		return json.NewEncoder(zip).Encode(r.authority.Metadata()) == nil
	}
	r.mustSignIn()
}

func TestTokenEndpointThatRedirects(t *testing.T) {
	reached := make(chan bool, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- true }))
	defer elsewhere.Close()
	for _, status := range []int{302, 307, 308} {
		r := newRig(t, func(r *rig) {
			r.authority.Override = func(w http.ResponseWriter, req *http.Request) bool {
				if req.URL.Path != "/token" {
					return false
				}
				http.Redirect(w, req, elsewhere.URL, status)
				return true
			}
		})
		if err := r.signIn(); !errors.Is(err, signin.ErrToken) || !strings.Contains(err.Error(), "redirects") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if len(reached) != 0 {
		t.Error("the code went elsewhere")
	}
}

// RFC 9207: a redirect from another authorization server is a mix-up.
func TestMixUp(t *testing.T) {
	r := newRig(t, func(r *rig) { r.authority.Issuer = "https://evil.example" })
	if err := r.signIn(); !errors.Is(err, signin.ErrMetadata) || !strings.Contains(err.Error(), "evil.example") {
		t.Errorf("error %v", err)
	}
	if n := len(r.authority.Requests()); n != 0 {
		t.Error("the code was sent all the same")
	}
}

func TestMetadataThatCannotBeTrusted(t *testing.T) {
	metadata := func(name string, value any) func(*rig) {
		return func(r *rig) {
			r.authority.Override = func(w http.ResponseWriter, req *http.Request) bool {
				if req.URL.Path != "/.well-known/oauth-authorization-server" {
					return false
				}
				m := r.authority.Metadata()
				if m[name] = value; value == nil {
					delete(m, name)
				}
				signintest.Answer(w, 200, m)
				return true
			}
		}
	}
	resource := func(m map[string]any) func(*rig) {
		return func(r *rig) {
			r.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if strings.Contains(req.URL.Path, "oauth-protected-resource") {
					if m["resource"] == nil {
						m["resource"] = r.server.URL + "/mcp"
					}
					signintest.Answer(w, 200, m)
					return
				}
				http.NotFound(w, req)
			})
		}
	}
	for name, c := range map[string]struct {
		configure func(*rig)
		want      error
		says      string
	}{
		"another issuer":          {metadata("issuer", "https://evil.example"), signin.ErrMetadata, "evil.example"},
		"no PKCE":                 {metadata("code_challenge_methods_supported", nil), signin.ErrMetadata, "PKCE"},
		"only plain PKCE":         {metadata("code_challenge_methods_supported", []string{"plain"}), signin.ErrMetadata, "S256"},
		"token over http":         {metadata("token_endpoint", "http://evil.example/token"), signin.ErrMetadata, "HTTPS"},
		"no token endpoint":       {metadata("token_endpoint", nil), signin.ErrMetadata, "token endpoint"},
		"authorize with a script": {metadata("authorization_endpoint", "javascript:alert(1)"), signin.ErrMetadata, "javascript"},
		"authorize as a file":     {metadata("authorization_endpoint", "file:///etc/passwd"), signin.ErrMetadata, ""},
		"with a user":             {metadata("authorization_endpoint", "https://a:b@h/x"), signin.ErrMetadata, "user name"},
		"with a fragment":         {metadata("authorization_endpoint", "https://h/x#y"), signin.ErrMetadata, "fragment"},
		"an empty fragment":       {metadata("authorization_endpoint", "https://h/x#"), signin.ErrMetadata, "fragment"},
		"HTML":                    {func(r *rig) { r.override("/.well-known/oauth-authorization-server", 200, "<html>") }, signin.ErrMetadata, "text/html"},
		"nothing":                 {func(r *rig) { r.override("/.well-known/oauth-authorization-server", 404, "{}") }, signin.ErrMetadata, "no metadata"},
		"down":                    {func(r *rig) { r.override("/.well-known/oauth-authorization-server", 500, "{}") }, signin.ErrMetadata, "500"},
		"for another resource":    {resource(map[string]any{"resource": "https://bank.example/", "authorization_servers": []string{"https://as.example"}}), signin.ErrMetadata, "bank.example"},
		"for a sibling": {func(r *rig) {
			resource(map[string]any{"resource": r.server.URL + "/mc", "authorization_servers": []string{r.authority.URL}})(r)
		}, signin.ErrMetadata, "not for"},
		"no authority":            {resource(map[string]any{}), signin.ErrMetadata, "no authorization server"},
		"authority over http":     {resource(map[string]any{"authorization_servers": []string{"http://as.example"}}), signin.ErrMetadata, "https"},
		"authority is no address": {resource(map[string]any{"authorization_servers": []string{"\x1b[31m"}}), signin.ErrMetadata, "no address"},
		"no sign-in at all":       {func(r *rig) { r.server.Config.Handler = http.NotFoundHandler() }, signin.ErrNone, "header"},
		"HTML on every address": {func(r *rig) {
			r.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>hello")) })
		}, signin.ErrNone, "header"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.configure)
			_, err := r.account.Begin(r.ctx())
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("error %q, want %q that says %q", err, c.want, c.says)
			}
			if err := r.account.Discover(r.ctx()); !errors.Is(err, c.want) {
				t.Errorf("discover: %v", err)
			}
		})
	}
}

// What does not answer says nothing that could be distrusted.
func TestMetadataOfWhatDoesNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		stop func(*rig)
		says string
	}{
		"server":               {func(r *rig) { r.server.Close() }, "/.well-known/oauth-protected-resource"},
		"authorization server": {func(r *rig) { r.authority.Close() }, "authorization server http"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			c.stop(r)
			err := r.account.Discover(r.ctx())
			if !errors.Is(err, signin.ErrUnreachable) || errors.Is(err, signin.ErrMetadata) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "refused") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestMetadataForAllOfAnOrigin(t *testing.T) {
	r := newRig(t, nil)
	guard := r.server.Config.Handler
	r.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/.well-known/oauth-protected-resource":
			signintest.Answer(w, 200, map[string]any{"resource": r.server.URL, "authorization_servers": []string{r.authority.URL}})
		case "/mcp":
			guard.ServeHTTP(w, req)
		default:
			http.NotFound(w, req)
		}
	})
	r.mustSignIn()
	if got := r.authority.Requests()[0].Get("resource"); got != r.server.URL {
		t.Errorf("the token is for %s", got)
	}
	r.want(200)
}

func TestMetadataNamedInTheChallengeIsUsed(t *testing.T) {
	r := newRig(t, nil)
	again, err := r.account.Refused(r.ctx(), event.Secret{}, 401, []string{`Bearer resource_metadata="` + r.authority.URL + `/nothing"`})
	if again || err != nil {
		t.Fatalf("%v, %v", again, err)
	}
	if err := r.account.Discover(r.ctx()); !errors.Is(err, signin.ErrMetadata) {
		t.Errorf("error %v", err)
	}
}

// A server on the public network must not make the host send requests into its own network.
func TestPublicServerCannotReachPrivateAddresses(t *testing.T) {
	r := newRig(t, func(r *rig) { r.spec.URL = "https://1.1.1.1/mcp" })
	for _, address := range []string{"http://127.0.0.1:1/x", "http://localhost/x", "http://[::1]/x"} {
		if _, err := r.account.Refused(r.ctx(), event.Secret{}, 401, []string{`Bearer resource_metadata="` + address + `"`}); err != nil {
			t.Fatal(err)
		}
		if err := r.account.Discover(r.ctx()); !errors.Is(err, signin.ErrMetadata) || !strings.Contains(err.Error(), "on this machine") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"https://10.0.0.1/x", "https://169.254.169.254/latest", "https://[fd00::1]/x"} {
		if _, err := r.account.Refused(r.ctx(), event.Secret{}, 401, []string{`Bearer resource_metadata="` + address + `"`}); err != nil {
			t.Fatal(err)
		}
		if err := r.account.Discover(r.ctx()); !errors.Is(err, signin.ErrMetadata) || !strings.Contains(err.Error(), "not on the public network") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
