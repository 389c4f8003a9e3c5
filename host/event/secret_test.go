package event

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func whsec(n int) Secret {
	return NewSecret("whsec_" + base64.StdEncoding.EncodeToString(make([]byte, n)))
}

func TestWebhookKey(t *testing.T) {
	for _, n := range []int{24, 32, 64} {
		if key, err := whsec(n).WebhookKey(); err != nil || len(key) != n {
			t.Errorf("%d bytes: %d, %v", n, len(key), err)
		}
	}
	for name, s := range map[string]Secret{
		"absent": {}, "empty": NewSecret("whsec_"), "16 bytes": whsec(16), "23 bytes": whsec(23), "65 bytes": whsec(65),
		"not base64":   NewSecret("whsec_" + strings.Repeat("!", 44)),
		"URL alphabet": NewSecret("whsec_" + strings.Repeat("_-__", 11)),
		"no padding":   NewSecret("whsec_" + base64.RawStdEncoding.EncodeToString(make([]byte, 32))),
		"line break":   NewSecret("whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 33)) + "\n"),
		"loose bits":   NewSecret("whsec_" + strings.Repeat("A", 42) + "B="),
		"no prefix":    NewSecret(base64.StdEncoding.EncodeToString(make([]byte, 32))),
		"other prefix": NewSecret("whpk_" + base64.StdEncoding.EncodeToString(make([]byte, 32))),
	} {
		key, err := s.WebhookKey()
		if !errors.Is(err, ErrSecret) || key != nil {
			t.Errorf("%s: %d bytes, %v", name, len(key), err)
		} else if !s.IsZero() && len(s.Reveal()) > 8 && strings.Contains(err.Error(), s.Reveal()[6:]) {
			t.Errorf("%s: the error shows the secret", name)
		}
	}
}

func TestNewWebhookSecret(t *testing.T) {
	a, err := NewWebhookSecret(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewWebhookSecret(nil)
	if err != nil || a == b {
		t.Errorf("the same twice: %v", err)
	}
	if key, err := a.WebhookKey(); err != nil || len(key) != 32 {
		t.Errorf("%d bytes, %v", len(key), err)
	}
	if s, err := NewWebhookSecret(strings.NewReader("short")); !errors.Is(err, ErrSecret) || !s.IsZero() {
		t.Errorf("without randomness: %v", err)
	}
}

func TestSecretIsMaskedEverywhere(t *testing.T) {
	for _, clear := range []string{"whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "Bearer abcdefghijklmnop", "hunter2", `quote"and\at the "end"`} {
		s := NewSecret(clear)
		type holder struct {
			Secret Secret
			Ptr    *Secret
			Map    map[string]Secret
			hidden Secret
		}
		h := holder{s, &s, map[string]Secret{"k": s}, s}
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p", "%10.3s", "%U"} {
			fmt.Fprintf(&out, verb+" "+verb+"\n", s, h)
		}
		fmt.Fprintln(&out, s, &s, h, fmt.Errorf("x: %v", s), s.String())
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(handler).Info("m", "s", s, "h", h, slog.Group("g", "p", &s))
		}
		raw, err := json.Marshal(h)
		if err != nil {
			t.Errorf("%s: %v", s, err)
		}
		out.Write(raw)
		for i := 0; i+5 <= len(clear); i++ {
			part := clear[i : i+5]
			if strings.HasPrefix("whsec_", part) || strings.Contains("whsec_", part) {
				continue
			}
			if strings.Contains(out.String(), part) || strings.Contains(out.String(), fmt.Sprintf("%x", part)) {
				t.Errorf("%q of the secret is shown:\n%s", part, out.String())
				break
			}
		}
		if s.Reveal() != clear || s.IsZero() || s != NewSecret(clear) {
			t.Error("the secret itself is changed")
		}
	}
	if NewSecret("") != (Secret{}) {
		t.Error("an empty secret is not absent")
	}
	if got := fmt.Sprint(Secret{}); got != "" {
		t.Errorf("an absent secret is shown as %q", got)
	}
}
