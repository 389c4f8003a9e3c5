package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

func clientAsks(client string, n int) react.ClientRequest {
	return react.ClientRequest{Act: react.ClientBegin, Client: trust.Untrusted(client), Server: "pager", Type: trust.Untrusted("incident"),
		Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Asked: event.ModeAuto, Mode: event.ModePush}
}

// answerTo makes a client request, and waits for its run.
func answerTo(t *testing.T, e *Engine, w react.ClientRequest) react.Run {
	t.Helper()
	_, err := e.ClientRequest(t.Context(), w)
	must(t, err)
	rest(time.Second)
	r, err := e.ClientRequest(t.Context(), w)
	must(t, err)
	return r
}

// A client request has no effect until it is approved; then it is carried out once. The same
// request again returns the outcome. The audit log says who asked.
func TestAClientRequestIsCarriedOutOnceApproved(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.opened()
		q := clientAsks("stdio goose", 1)
		r := answerTo(t, e, q)
		rest(10 * time.Minute)
		if r.State != react.Asking || r.ID != q.Run() || w.acts() != 0 || len(e.Reactions().Waiting) != 1 {
			t.Fatalf("%+v, begun %v", r, w.begun)
		}
		if err := e.Grant(t.Context(), r.ID, r.Request.Hash(), time.Now().Add(time.Hour)); !errors.Is(err, react.ErrState) {
			t.Errorf("a grant for what clients ask for: %v", err)
		}
		if err := e.Approve(t.Context(), r.ID, "another"); !errors.Is(err, react.ErrChanged) {
			t.Error(err)
		}
		must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
		rest(time.Second)
		if r = answerTo(t, e, q); r.State != react.Done || w.times(string(r.ID)+"/1") != 1 {
			t.Errorf("%s, begun %v", r.State, w.begun)
		}
		rest(time.Minute) // what was done may be asked for again
		if r = answerTo(t, e, q); r.State != react.Asking || w.acts() != 1 {
			t.Errorf("%s, begun %v", r.State, w.begun)
		}
		for _, action := range []string{"subscription wished", "approval asked", "act started", "act ended"} {
			if !slices.ContainsFunc(w.audit(), func(a event.AuditEntry) bool { return a.Action == action && a.Actor == "client:stdio goose" }) {
				t.Errorf("the audit log has no %q of the client", action)
			}
		}
	})
}

// An answer of the operator stands for an hour: until then a client that asks again gets it. The
// operator can take a denial back.
func TestAnAnswerToAClientRequestStands(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t)
		e, _ := w.open("", 0)
		defer func() { closed(t, e) }()
		denied, expires := clientAsks("stdio", 1), clientAsks("stdio", 2)
		r := answerTo(t, e, denied)
		must(t, e.Deny(t.Context(), r.ID, "not now"))
		if r = answerTo(t, e, denied); r.State != react.Denied || r.Reason != "not now" {
			t.Fatalf("%s, %q", r.State, r.Reason)
		}
		must(t, e.Undeny(t.Context(), r.ID))
		if r = answerTo(t, e, denied); r.State != react.Asking {
			t.Fatal(r.State)
		}
		must(t, e.Deny(t.Context(), r.ID, "no"))
		answerTo(t, e, expires)
		rest(react.AnswerStands - 5*time.Second)
		if r = answerTo(t, e, denied); r.State != react.Denied {
			t.Error(r.State)
		}
		rest(10 * time.Second)
		if r = answerTo(t, e, denied); r.State != react.Asking || r.Reason != "" {
			t.Errorf("%s, %q", r.State, r.Reason)
		}
		if r = answerTo(t, e, expires); r.State != react.Expired || w.acts() != 0 {
			t.Errorf("%s, begun %v", r.State, w.begun)
		}
		closed(t, e)
		e, _ = w.open("", 0)
		if n := len(runsOf(t, e, react.Query{})); n != 2 {
			t.Errorf("%d runs are kept", n)
		}
	})
}

// If the outcome of a request cannot be read, the operator is not asked again.
func TestAClientRequestWhoseAnswerCannotBeRead(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.opened()
		q := clientAsks("stdio", 1)
		w.mu.Lock()
		w.tables[event.TableRuns] = map[string][]byte{string(q.Run()): []byte("{")}
		w.mu.Unlock()
		if r, err := e.ClientRequest(t.Context(), q); err == nil || e.Reactions().Asking != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestClientRequestsAreBounded(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.opened()
		n := 0
		for client := 0; n < react.MaxClientRequests; client++ {
			name := fmt.Sprintf("client %d", client)
			for range react.MaxRequestsOfClient {
				n++
				if r := answerTo(t, e, clientAsks(name, n)); r.State != react.Asking {
					t.Fatal(r.State)
				}
			}
			if _, err := e.ClientRequest(t.Context(), clientAsks(name, -1)); !errors.Is(err, react.ErrClientRequests) {
				t.Fatalf("one more of %s: %v", name, err)
			}
		}
		if _, err := e.ClientRequest(t.Context(), clientAsks("another", 0)); !errors.Is(err, react.ErrClientRequests) {
			t.Error(err)
		}
		first := clientAsks("client 0", 1)
		if _, err := e.ClientRequest(t.Context(), first); err != nil {
			t.Errorf("one that asks already: %v", err)
		}
		must(t, e.Deny(t.Context(), first.Run(), ""))
		if _, err := e.ClientRequest(t.Context(), clientAsks("another", 0)); err != nil {
			t.Error(err)
		}
		if _, err := e.ClientRequest(t.Context(), react.ClientRequest{Act: react.ClientBegin, Client: trust.Untrusted("x"), Args: json.RawMessage(`"` + strings.Repeat("x", maxRule) + `"`)}); err == nil {
			t.Error("a request that cannot be kept was taken")
		}
	})
}

// An engine that is killed at each failpoint carries out approved client requests only, and each of
// them at least once: a second time changes nothing.
func TestClientRequestsSurviveKills(t *testing.T) {
	reached := 0
	for _, point := range failpoints {
		for after := range 4 {
			simulated(t, func(t *testing.T) {
				w := newWorld(t)
				approved, other := clientAsks("stdio", 1), clientAsks("stdio", 2)
				e, l := w.open(point, after)
				for _, q := range []react.ClientRequest{approved, other} {
					_, _ = e.ClientRequest(t.Context(), q) // it may die over it
				}
				rest(time.Second)
				if r, err := e.Run(t.Context(), approved.Run()); err == nil && r.Request != nil {
					_ = e.Approve(t.Context(), r.ID, r.Request.Hash())
				}
				rest(2 * time.Second)
				if l.isDead() {
					reached++
				}
				l.kill()
				closed(t, e)
				e = w.opened()
				rest(time.Second)
				r, first := answerTo(t, e, approved), true
				for ; r.State == react.Asking; first = false {
					if !first {
						t.Fatalf("%s %d: it asks again", point, after)
					}
					must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
					r = answerTo(t, e, approved)
				}
				if r.State != react.Done {
					t.Errorf("%s %d: the approved one is %s: %s", point, after, r.State, r.Why)
				}
				if r := answerTo(t, e, other); r.State != react.Asking || r.Attempt != 0 {
					t.Errorf("%s %d: the other one is %s", point, after, r.State)
				}
			})
		}
	}
	if reached < 10 {
		t.Errorf("only %d engines were killed", reached)
	}
}
