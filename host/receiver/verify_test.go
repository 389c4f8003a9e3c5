package receiver

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
)

func vectorHeaders(signature string) http.Header {
	return http.Header{
		HeaderID:        {vectorID},
		HeaderTimestamp: {"1614265330"},
		HeaderSignature: {signature},
	}
}

func TestSignVectors(t *testing.T) {
	for _, tt := range []struct {
		secret event.Secret
		want   string
	}{{vectorSecret, vectorV1}, {secondSecret, secondV1}} {
		got, err := Sign(tt.secret, vectorID, vectorTime, []byte(vectorBody))
		if err != nil || got != tt.want {
			t.Errorf("Sign = %q, %v, want %q", got, err, tt.want)
		}
	}
}

func TestSignNeedsSecret(t *testing.T) {
	for _, s := range []string{"", "whsec_", "whsec_AAECAwQFBgcICQoLDA0ODw==", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_%%%"} {
		if _, err := Sign(event.NewSecret(s), "a", vectorTime, nil); !errors.Is(err, event.ErrSecret) {
			t.Errorf("Sign with a secret of %d bytes: %v", len(s), err)
		}
	}
}

func signText(key string) string {
	return "v1," + base64.StdEncoding.EncodeToString(mac([]byte(key), vectorID, "1614265330", []byte(vectorBody)))
}

func TestVerify(t *testing.T) {
	rotating := Entry{Current: vectorSecret, Previous: secondSecret, PreviousUntil: vectorTime.Add(time.Minute)}
	over := rotating
	over.PreviousUntil = vectorTime
	one := Entry{Current: vectorSecret}
	unpadded := strings.TrimSuffix(vectorV1, "=")
	for name, tt := range map[string]struct {
		signature string
		entry     Entry
		later     time.Duration
		previous  bool
		err       error
	}{
		"current":                 {signature: vectorV1, entry: one},
		"current while rotating":  {signature: vectorV1, entry: rotating},
		"previous in grace":       {signature: secondV1, entry: rotating, previous: true},
		"both, current counts":    {signature: secondV1 + " " + vectorV1, entry: rotating},
		"previous after grace":    {signature: secondV1, entry: over, err: ErrOldSecret},
		"previous without grace":  {signature: secondV1, entry: Entry{Current: vectorSecret, Previous: secondSecret}, err: ErrOldSecret},
		"only previous usable":    {signature: secondV1, entry: Entry{Previous: secondSecret, PreviousUntil: vectorTime.Add(1)}, previous: true},
		"among unknown versions":  {signature: "v2,AAAA " + ownV1a + " junk " + vectorV1, entry: one},
		"library's negative":      {signature: "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=", entry: one, err: ErrSignature},
		"partial":                 {signature: "v1,", entry: one, err: ErrSignature},
		"no version":              {signature: strings.TrimPrefix(vectorV1, "v1,"), entry: one, err: ErrSignature},
		"other version":           {signature: "v2," + strings.TrimPrefix(vectorV1, "v1,"), entry: one, err: ErrSignature},
		"v1a only":                {signature: ownV1a, entry: one, err: ErrSignature},
		"unpadded":                {signature: unpadded, entry: one, err: ErrSignature},
		"text as key":             {signature: signText(vectorSecret.Reveal()), entry: one, err: ErrSecretAsText},
		"text without prefix":     {signature: signText(strings.TrimPrefix(vectorSecret.Reveal(), "whsec_")), entry: one, err: ErrSecretAsText},
		"text of the previous":    {signature: signText(secondSecret.Reveal()), entry: rotating, err: ErrSecretAsText},
		"text of an old previous": {signature: signText(secondSecret.Reveal()), entry: over, err: ErrSignature},
		"no secret":               {signature: signText(""), entry: Entry{}, err: ErrNoSecret},
		"empty secret":            {signature: signText(""), entry: Entry{Current: event.NewSecret("whsec_")}, err: ErrNoSecret},
		"300 s old":               {signature: vectorV1, entry: one, later: 300*time.Second + 999*time.Millisecond},
		"300 s ahead":             {signature: vectorV1, entry: one, later: -300 * time.Second},
		"stale and wrong":         {signature: secondV1, entry: one, later: time.Hour, err: ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := ReadHeaders(vectorHeaders(tt.signature))
			if err != nil {
				t.Fatal(err)
			}
			previous, err := h.Verify([]byte(vectorBody), tt.entry, vectorTime.Add(tt.later))
			if !errors.Is(err, tt.err) || (tt.err == nil && err != nil) || previous != tt.previous {
				t.Errorf("Verify = %v, %v, want %v, %v", previous, err, tt.previous, tt.err)
			}
			if errors.Is(tt.err, ErrSignature) && tt.err != ErrSecretAsText && errors.Is(err, ErrSecretAsText) {
				t.Errorf("diagnosed as %v", err)
			}
		})
	}
}

func TestVerifyClock(t *testing.T) {
	h, err := ReadHeaders(vectorHeaders(vectorV1))
	if err != nil {
		t.Fatal(err)
	}
	for later, want := range map[time.Duration]string{
		431 * time.Second:  "clock off by 431 seconds: the delivery is older",
		-301 * time.Second: "clock off by 301 seconds: the sender is ahead",
	} {
		_, err := h.Verify([]byte(vectorBody), Entry{Current: vectorSecret}, vectorTime.Add(later))
		var clock *ClockError
		if !errors.As(err, &clock) || clock.Off != -later || err.Error() != want {
			t.Errorf("%v later: %v, want %s", later, err, want)
		}
	}
}

func TestReadHeadersGrammar(t *testing.T) {
	set := func(name string, values ...string) http.Header {
		h := vectorHeaders(vectorV1)
		h[name] = values
		return h
	}
	sixteen := strings.TrimSpace(strings.Repeat("v9,AA ", 16))
	good := map[string]http.Header{
		"plain":               vectorHeaders(vectorV1),
		"mail message id":     set(HeaderID, "<CA.1234567890.x@mail.example>"),
		"dot and nine digits": set(HeaderID, "a.123456789"),
		"dot and twelve":      set(HeaderID, "a.123456789012"),
		"ten digits, no dot":  set(HeaderID, "1234567890"),
		"longest id":          set(HeaderID, strings.Repeat("a", 255)),
		"eleven digits":       set(HeaderTimestamp, "16142653300"),
		"sixteen entries":     set(HeaderSignature, sixteen),
		"subscription id":     set(HeaderSubscription, "sub_1"),
	}
	for name, header := range good {
		if _, err := ReadHeaders(header); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := map[string]http.Header{
		"no id":                 set(HeaderID),
		"empty id":              set(HeaderID, ""),
		"two ids":               set(HeaderID, "a", "a"),
		"long id":               set(HeaderID, strings.Repeat("a", 256)),
		"brace":                 set(HeaderID, "a{"),
		"blank":                 set(HeaderID, "a b"),
		"not ASCII":             set(HeaderID, "é"),
		"control":               set(HeaderID, "a\x1b"),
		"dot and ten digits":    set(HeaderID, "a.1234567890"),
		"dot and eleven digits": set(HeaderID, "a.12345678901"),
		"no timestamp":          set(HeaderTimestamp),
		"sign":                  set(HeaderTimestamp, "+1614265330"),
		"leading zero":          set(HeaderTimestamp, "0614265330"),
		"nine digits":           set(HeaderTimestamp, "161426533"),
		"twelve digits":         set(HeaderTimestamp, "161426533000"),
		"letters":               set(HeaderTimestamp, "161426533x"),
		"no signature":          set(HeaderSignature),
		"blank signature":       set(HeaderSignature, " "),
		"two lines":             set(HeaderSignature, vectorV1, vectorV1),
		"seventeen entries":     set(HeaderSignature, sixteen+" v1,"),
		"long signature":        set(HeaderSignature, strings.Repeat("a", 4097)),
		"two subscriptions":     set(HeaderSubscription, "a", "b"),
		"long subscription":     set(HeaderSubscription, strings.Repeat("a", 1025)),
	}
	for name, header := range bad {
		if _, err := ReadHeaders(header); !errors.Is(err, ErrHeaders) {
			t.Errorf("%s: %v, want ErrHeaders", name, err)
		}
	}
}
