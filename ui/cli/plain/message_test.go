package plain

import (
	"errors"
	"testing"
)

// The message of an error is one line that cannot act on a terminal and shows no secret, even
// if its words are a server's and unknown to the redactor.
func TestMessagesAreSafeAndMasked(t *testing.T) {
	for in, want := range map[string]string{
		"cannot connect\r\nnext: \x1b]0;owned\a\x1b[31mred": `cannot connect; next: \x1b]0;owned\x07\x1b[31mred`,
		"admin\u202egnp.exe":                              `admin\u202egnp.exe`,
		`escaped once \x1b[2J`:                            `escaped once \x1b[2J`,
		"refused: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": "refused: whsec_…LaSw",
		"POST https://hooks.example/services/T0/a1B2c3D4e5F6g7H8i9J0?token=t0p": "POST https://hooks.example/services/T0/…?token=…",
		"API_TOKEN=abcd1234 is no token":                                        "API_TOKEN=… is no token",
		"`eventdeck store recover` keeps what can be read":                      "`eventdeck store recover` keeps what can be read",
	} {
		if got := Message(errors.New(in)); got != want {
			t.Errorf("%q\n is %q,\nnot %q", in, got, want)
		}
	}
}
