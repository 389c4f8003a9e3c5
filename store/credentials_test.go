package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/store/seal"
)

func TestCredentialsAreSealed(t *testing.T) {
	const clear = "a-refresh-token-that-must-not-be-seen"
	dir := t.TempDir()
	o := Options{Dir: dir, Keyring: seal.NoKeyring()}
	s := openTest(t, o)
	ctx := context.Background()
	if _, err := s.Credential("oauth/x"); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("nothing is kept: %v", err)
	}
	if err := s.SetCredential(ctx, "oauth/x", event.NewSecret(clear)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil && strings.Contains(string(raw), clear) {
			t.Errorf("%s holds the token in clear", f)
		}
	}
	s = openTest(t, o)
	got, err := s.Credential("oauth/x")
	if err != nil || got.Reveal() != clear {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := s.Credential("oauth/y"); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("another's: %v", err)
	}
	if err := s.SetCredential(ctx, "oauth/x", event.Secret{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Credential("oauth/x"); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("after its removal: %v", err)
	}
}

// A sealed value that is moved to another name cannot be opened there.
func TestCredentialsStayWhereTheyWereSealed(t *testing.T) {
	s := openTest(t, Options{Dir: t.TempDir(), Keyring: seal.NoKeyring()})
	ctx := context.Background()
	if err := s.SetCredential(ctx, "oauth/x", event.NewSecret("token")); err != nil {
		t.Fatal(err)
	}
	sealed, err := s.Setting(credentialPrefix + "oauth/x")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetSetting(ctx, credentialPrefix+"oauth/y", sealed); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Credential("oauth/y"); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("opened elsewhere: %v", err)
	}
}
