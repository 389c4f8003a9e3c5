package wiring_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"eventdeck/host/model"
	"eventdeck/host/model/modeltest"
	"eventdeck/host/react"
	"eventdeck/ui/wiring"
)

// ring is a keyring that counts its calls.
type ring struct{ asked int }

func (r *ring) Get(context.Context, string, string) (string, error) {
	r.asked++
	return "secret-key", nil
}

func TestModelsAreAskedForCommands(t *testing.T) {
	for _, wire := range []react.Wire{react.WireChat, react.WireMessages} {
		s := modeltest.New(t)
		s.Play(modeltest.Reply{Text: "OK"}, modeltest.Reply{Status: 401, Body: "no"})
		r := &ring{}
		m := wiring.Models{Options: model.Options{Keyring: r}}
		of := s.Model(wire)
		if err := m.HasKey(t.Context(), of); err != nil || r.asked != 0 {
			t.Errorf("a model without a key: %v, the keyring was asked %d times", err, r.asked)
		}
		of.Key = "keyring"
		tried, err := m.Try(t.Context(), of)
		if err != nil || tried.Answer.Raw() != "OK" || tried.Usage != (react.Usage{In: 10, Out: 5}) || tried.Cost != 105 || tried.Took <= 0 || r.asked != 1 {
			t.Errorf("%s: %+v, %v", wire, tried, err)
		}
		if body := string(s.Asked()[0].Body); len(body) > 300 || strings.Contains(body, "secret-key") {
			t.Errorf("%s: sent %s", wire, body)
		}
		if tried, err := m.Try(t.Context(), of); !errors.Is(err, model.ErrRefused) || tried.Usage != (react.Usage{}) {
			t.Errorf("%s: %+v, %v", wire, tried, err)
		}
		of.URL = "ftp://x"
		if err := m.HasKey(t.Context(), of); !errors.Is(err, model.ErrModel) {
			t.Error(err)
		}
	}
}
