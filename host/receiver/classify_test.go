package receiver

import (
	"errors"
	"strings"
	"testing"

	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

func TestClassify(t *testing.T) {
	long := strings.Repeat("é", 1024)
	for body, want := range map[string]Type{
		eventBody:                               TypeEvent,
		`{}`:                                    TypeEvent,
		`{"type":null,"eventId":"a"}`:           TypeEvent,
		`{"Type":"gap"}`:                        TypeEvent,
		`{"data":{"type":"gap"}}`:               TypeEvent,
		`{"type":"gap","cursor":"c"}`:           TypeGap,
		`{"type":"terminated"}`:                 TypeTerminated,
		`{"type":"event"}`:                      TypeControl,
		`{"type":"malformed"}`:                  TypeControl,
		`{"type":""}`:                           TypeControl,
		`{"type":"verification"}`:               TypeMalformed,
		`{"type":"verification","challenge":1}`: TypeMalformed,
		`{"type":"verification","challenge":"` + long + `"}`:  typeVerification,
		`{"type":"verification","challenge":"` + long + `x"}`: TypeMalformed,
		`{"type":5}`:                TypeMalformed,
		`{"type":"gap","type":"x"}`: TypeMalformed,
		`{"data":{"a":1,"a":2}}`:    TypeMalformed,
		`{} {}`:                     TypeMalformed,
		`[]`:                        TypeMalformed,
		``:                          TypeMalformed,
		"\ufeff{}":                  TypeMalformed,
	} {
		c := classify([]byte(body), false)
		if c.kind != want {
			t.Errorf("%.60q: %s, want %s", body, c.kind, want)
		}
		if (c.kind == TypeMalformed) != errors.Is(c.refused, strict.ErrRefused) {
			t.Errorf("%.60q: refused %v", body, c.refused)
		}
	}
	if c := classify([]byte(`{"type":"pause"}`), false); c.control != trust.Untrusted("pause") {
		t.Errorf("control %v", c.control)
	}
}
