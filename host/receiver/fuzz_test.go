package receiver

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"eventdeck/host/trust/strict"
)

var (
	idGrammar    = regexp.MustCompile(`\A[!-z|~]{1,255}\z`)
	idEnd        = regexp.MustCompile(`\.[0-9]{10,11}\z`)
	stampGrammar = regexp.MustCompile(`\A[1-9][0-9]{9,10}\z`)
)

func FuzzReadHeaders(f *testing.F) {
	f.Add(vectorID, "1614265330", vectorV1, "sub")
	f.Add("a.1234567890", "0", "v1a,x v1,", "")
	f.Add("{}", "+161426533", strings.Repeat("v1, ", 17), "\x1b")
	f.Fuzz(func(t *testing.T, id, stamp, signature, sub string) {
		h, err := ReadHeaders(http.Header{HeaderID: {id}, HeaderTimestamp: {stamp}, HeaderSignature: {signature}, HeaderSubscription: {sub}})
		entries := len(strings.Fields(signature))
		want := idGrammar.MatchString(id) && !idEnd.MatchString(id) && stampGrammar.MatchString(stamp) &&
			len(signature) <= 4096 && entries >= 1 && entries <= 16 && len(sub) <= 1024
		if (err == nil) != want {
			t.Fatalf("ReadHeaders(%q, %q, %q): %v", id, stamp, signature, err)
		}
		if err != nil && !errors.Is(err, ErrHeaders) {
			t.Fatalf("%v is not an ErrHeaders", err)
		}
		if err == nil && (h.ID.Raw() != id || h.ServerID.Raw() != sub || len(h.signatures) != entries) {
			t.Fatalf("%+v", h)
		}
	})
}

func FuzzVerify(f *testing.F) {
	f.Add(vectorID, "1614265330", vectorV1, []byte(vectorBody))
	f.Add(vectorID, "1614265330", "v1, "+secondV1, []byte(vectorBody))
	f.Add("a", "1614265330", vectorV1, []byte("1."+vectorBody))
	f.Fuzz(func(t *testing.T, id, stamp, signature string, body []byte) {
		h, err := ReadHeaders(http.Header{HeaderID: {id}, HeaderTimestamp: {stamp}, HeaderSignature: {signature}})
		if err != nil {
			return
		}
		_, err = h.Verify(body, Entry{Current: vectorSecret}, vectorTime)
		genuine := id == vectorID && stamp == "1614265330" && string(body) == vectorBody && bytes.Contains([]byte(signature), []byte(vectorV1))
		if err == nil && !genuine {
			t.Fatalf("taken: %q %q %q %q", id, stamp, signature, body)
		}
		signed, err := Sign(vectorSecret, id, h.SentAt, body)
		if err != nil {
			t.Fatal(err)
		}
		h.signatures = append(h.signatures, parseEntry(signed))
		if _, err := h.Verify(body, Entry{Current: vectorSecret}, h.SentAt); err != nil {
			t.Fatalf("own signature refused: %v", err)
		}
	})
}

func parseEntry(entry string) signature {
	version, value, _ := strings.Cut(entry, ",")
	return signature{version, value}
}

func FuzzClassify(f *testing.F) {
	for _, body := range []string{eventBody, `{"type":"gap"}`, `{"type":null}`, `{"type":"verification","challenge":"x"}`, `{"a":1,"a":2}`, `[]`, `{"type":"\ud800"}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := classify(body, false)
		if (c.kind == TypeMalformed) != (c.refused != nil) || c.refused != nil && !errors.Is(c.refused, strict.ErrRefused) {
			t.Fatalf("%s with %v", c.kind, c.refused)
		}
		if c.kind == TypeMalformed {
			return
		}
		var loose map[string]json.RawMessage
		if err := json.Unmarshal(body, &loose); err != nil {
			t.Fatalf("%s for what is not JSON: %v", c.kind, err)
		}
		absent := loose["type"] == nil || string(loose["type"]) == "null"
		if absent != (c.kind == TypeEvent) {
			t.Fatalf("%s for type %s", c.kind, loose["type"])
		}
		if (c.kind == typeVerification) != !c.challenge.IsZero() {
			t.Fatalf("%s with challenge %v", c.kind, c.challenge)
		}
	})
}
