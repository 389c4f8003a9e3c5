package receiver

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust/corpus"
)

type caseRequest struct {
	Method        string          `json:"method"`
	Path          string          `json:"path"`
	Sub           string          `json:"sub"`
	ID            string          `json:"id"`
	TSOffset      int64           `json:"ts_offset"`
	TS            string          `json:"ts"`
	Clock         string          `json:"clock"`
	Secret        string          `json:"secret"`
	Sig           []string        `json:"sig"`
	ContentType   string          `json:"content_type"`
	Body          string          `json:"body"`
	BodyAfterSign string          `json:"body_after_sign"`
	RawGen        json.RawMessage `json:"body_gen"`
	Chunked       bool            `json:"chunked"`
	HeaderCase    string          `json:"header_case"`
	Grace         string          `json:"grace"`
	Fault         string          `json:"fault"`
	Pin           string          `json:"pin"`
	Repeat        int             `json:"repeat"`
	Sequence      []caseRequest   `json:"sequence"`
}

type receiverCase struct {
	ID      string      `json:"id"`
	Class   string      `json:"class"`
	Title   string      `json:"title"`
	Request caseRequest `json:"request"`
	Expect  struct {
		Status    int               `json:"status"`
		StatusAny []int             `json:"status_any"`
		Stored    *int              `json:"stored"`
		Header    map[string]string `json:"header"`
		BodyJSON  json.RawMessage   `json:"body_json"`
		BodyNot   string            `json:"body_not_contains"`
	} `json:"expect"`
}

// loadCases reads the receiver's rows of the case file.
func loadCases(t *testing.T) []receiverCase {
	t.Helper()
	var cases []receiverCase
	for _, line := range corpus.Read[json.RawMessage](t, filepath.Join("..", "trust", "scan", "testdata", "untrusted.jsonl")) {
		var head struct{ Class string }
		if err := json.Unmarshal(line, &head); err != nil {
			t.Fatal(err)
		}
		if head.Class != "receiver" {
			continue
		}
		var c receiverCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

func TestReceiverCases(t *testing.T) {
	cases := loadCases(t)
	if len(cases) != 27 {
		t.Fatalf("%d receiver cases, want 27", len(cases))
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Run("https", func(t *testing.T) { runCase(t, c, true) })
			t.Run("plain", func(t *testing.T) { runCase(t, c, false) })
		})
	}
}

func runCase(t *testing.T, c receiverCase, tlsOn bool) {
	first := c.Request
	secret := vectorSecret
	if first.Secret != "" {
		secret = event.NewSecret(first.Secret)
	}
	until := vectorTime.Add(time.Hour)
	if first.Grace == "closed" {
		until = vectorTime.Add(-time.Second)
	}
	active := Entry{Sub: "active", Current: secret, Previous: secondSecret, PreviousUntil: until}
	if first.Pin == "v1a" {
		active.KeyRequired, active.Keys = true, []ed25519.PublicKey{serverKey().Public().(ed25519.PublicKey)}
	}
	book := fakeBook{
		"/hooks/tok-active":  {active, PathKnown},
		"/hooks/tok-pending": {Entry{Sub: "pending", Current: vectorSecret, InFlight: true}, PathKnown},
		"/hooks/tok-gone":    {Entry{}, PathRemoved},
		"/hooks/tok-nosuch":  {Entry{}, PathEnded},
	}
	r := newRig(t, book, tlsOn, nil)
	if first.Clock != "" {
		seconds, err := strconv.ParseInt(first.Clock, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		r.now = time.Unix(seconds, 0)
	}
	if first.Fault == "store-enospc" {
		r.sink.before = func(context.Context, Delivery) error { return fmt.Errorf("%w: %w", event.ErrFull, syscall.ENOSPC) }
	}
	requests := first.Sequence
	if len(requests) == 0 {
		requests = slices.Repeat([]caseRequest{first}, max(1, first.Repeat))
	}
	var got answer
	for _, request := range requests {
		got = r.do(caseHTTP(t, r, request))
	}
	checkCase(t, c, got, len(r.sink.deliveries()))
}

func checkCase(t *testing.T, c receiverCase, got answer, stored int) {
	t.Helper()
	if got.status != c.Expect.Status {
		t.Errorf("status %d, want %d", got.status, c.Expect.Status)
	}
	if c.Expect.Stored != nil && stored != *c.Expect.Stored {
		t.Errorf("stored %d, want %d", stored, *c.Expect.Stored)
	}
	for name, want := range c.Expect.Header {
		if have := got.header.Get(name); have == "" || want != "*" && have != want {
			t.Errorf("header %s: %q, want %q", name, have, want)
		}
	}
	if c.Expect.BodyJSON != nil {
		var have, want any
		if err := json.Unmarshal([]byte(got.body), &have); err != nil {
			t.Fatalf("body %q: %v", got.body, err)
		}
		if err := json.Unmarshal(c.Expect.BodyJSON, &want); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(have) != fmt.Sprint(want) {
			t.Errorf("body %v, want %v", have, want)
		}
	}
	if c.Expect.BodyNot != "" && strings.Contains(got.body, c.Expect.BodyNot) {
		t.Errorf("body reflects %q", c.Expect.BodyNot)
	}
}

func caseHTTP(t *testing.T, r *rig, q caseRequest) *http.Request {
	t.Helper()
	body := q.Body
	if q.RawGen != nil {
		var gen struct {
			PadTo int `json:"pad_to"`
		}
		if err := json.Unmarshal(q.RawGen, &gen); err != nil {
			t.Fatal(err)
		}
		body = strings.TrimSuffix(body, "}") + strings.Repeat(" ", gen.PadTo-len(body)) + "}"
	}
	at := r.now.Add(time.Duration(q.TSOffset) * time.Second)
	var entries []string
	for _, s := range q.Sig {
		entries = append(entries, caseSignature(t, s, q.ID, at, body))
	}
	if q.BodyAfterSign != "" {
		body = q.BodyAfterSign
	}
	req, err := http.NewRequest(q.Method, r.base+q.Path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if q.Chunked {
		req.ContentLength = -1
	}
	idName := HeaderID
	if q.HeaderCase != "" {
		idName = q.HeaderCase
	}
	req.Header[idName] = []string{q.ID}
	req.Header.Set("Content-Type", q.ContentType)
	req.Header.Set(HeaderSubscription, q.Sub)
	req.Header.Set(HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	if len(entries) > 0 {
		req.Header.Set(HeaderSignature, strings.Join(entries, " "))
	}
	return req
}

func caseSignature(t *testing.T, spec, id string, at time.Time, body string) string {
	t.Helper()
	if raw, ok := strings.CutPrefix(spec, "raw:"); ok {
		return raw
	}
	secrets := map[string]event.Secret{
		"v1:current": vectorSecret, "v1:pending": vectorSecret, "v1:previous": secondSecret, "v1:wrong": otherSecret,
	}
	if spec == "v1a:server" {
		return SignWithKey(serverKey(), id, at.Unix(), []byte(body))
	}
	secret, ok := secrets[spec]
	if !ok {
		t.Fatalf("no secret for %q", spec)
	}
	sig, err := Sign(secret, id, at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return sig
}
