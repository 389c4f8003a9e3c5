package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestOAuth(t *testing.T) {
	f, err := Parse("f.json", []byte(`{"mcpServers": {"s": {"url": "https://h/mcp", "oauth": {
		"clientId": "me", "clientSecret": "${SECRET}", "issuer": "https://as", "scopes": ["a", "b"],
		"clientMetadataUrl": "https://me.example/c.json", "callbackPort": 8123, "grant": "client_credentials"}},
		"t": {"url": "https://h/mcp", "oauth": {"scope": "a b"}}}}`), env("SECRET", "hidden-secret"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Find("s")
	if err != nil {
		t.Fatal(err)
	}
	o := s.OAuth
	if o.ClientID != "me" || o.ClientSecret.Reveal() != "hidden-secret" || o.Issuer != "https://as" || !slices.Equal(o.Scopes, []string{"a", "b"}) ||
		o.MetadataURL != "https://me.example/c.json" || o.CallbackPort != 8123 || !o.ClientCredentials {
		t.Errorf("%+v", o)
	}
	if s, err = f.Find("t"); err != nil || !slices.Equal(s.OAuth.Scopes, []string{"a", "b"}) || s.OAuth.ClientCredentials {
		t.Errorf("%+v, %v", s.OAuth, err)
	}
}

func TestInvalidOAuth(t *testing.T) {
	for text, want := range map[string]string{
		`7`:                               "must be an object",
		`{"clientId": 7}`:                 `"clientId" must be a string`,
		`{"scopes": 7}`:                   `"scopes" must be a list`,
		`{"grant": "password"}`:           `use authorization_code or client_credentials`,
		`{"grant": "client_credentials"}`: `needs "clientId" and "clientSecret"`,
		`{"callbackPort": 70000}`:         "1 to 65535",
		`{"issuer": "as.example"}`:        "oauth.issuer must be",
		`{"clientMetadataUrl": "http://me/c.json"}`: "oauth.clientMetadataUrl must be",
		`{"clientSecret": "${UNSET}"}`:              "UNSET",
	} {
		f, err := Parse("f.json", []byte(`{"mcpServers": {"s": {"url": "https://h/", "oauth": `+text+`}}}`), env())
		if err == nil {
			_, err = f.Find("s")
		}
		if !errors.Is(err, ErrFile) && !errors.Is(err, ErrVariable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
