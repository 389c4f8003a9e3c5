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

func aWish(client string, n int) react.Wish {
	return react.Wish{Client: trust.Untrusted(client), Server: "pager", Type: trust.Untrusted("incident"),
		Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Asked: event.ModeAuto, Mode: event.ModePush}
}

// wishes has a wish asked, and waits until it is decided what becomes of it.
func wishes(t *testing.T, e *Engine, w react.Wish) react.Run {
	t.Helper()
	_, err := e.Wish(t.Context(), w)
	must(t, err)
	rest(time.Second)
	r, err := e.Wish(t.Context(), w)
	must(t, err)
	return r
}

// A wish does nothing until it is approved; then it is carried out once, and asked for again
// it tells what became of it. The audit log says who wished.
func TestAWishIsCarriedOutOnceApproved(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.opened()
		wish := aWish("stdio goose", 1)
		r := wishes(t, e, wish)
		rest(10 * time.Minute)
		if r.State != react.Asking || r.ID != wish.Run() || w.acts() != 0 || len(e.Reactions().Waiting) != 1 {
			t.Fatalf("%+v, begun %v", r, w.begun)
		}
		if err := e.Grant(t.Context(), r.ID, r.Request.Hash(), time.Now().Add(time.Hour)); !errors.Is(err, react.ErrState) {
			t.Errorf("a grant for what clients wish: %v", err)
		}
		if err := e.Approve(t.Context(), r.ID, "another"); !errors.Is(err, react.ErrChanged) {
			t.Error(err)
		}
		must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
		rest(time.Second)
		if r = wishes(t, e, wish); r.State != react.Done || w.times(string(r.ID)+"/1") != 1 {
			t.Errorf("%s, begun %v", r.State, w.begun)
		}
		rest(time.Minute) // what was done may be wished for again
		if r = wishes(t, e, wish); r.State != react.Asking || w.acts() != 1 {
			t.Errorf("%s, begun %v", r.State, w.begun)
		}
		for _, action := range []string{"subscription wished", "approval asked", "act started", "act ended"} {
			if !slices.ContainsFunc(w.audit(), func(a event.AuditEntry) bool { return a.Action == action && a.Actor == "client:stdio goose" }) {
				t.Errorf("the audit log has no %q of the client", action)
			}
		}
	})
}

// What the operator said stands for an hour: so long a client that asks again is told it. The
// operator can take a denial back.
func TestAnAnswerToAWishStands(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t)
		e, _ := w.open("", 0)
		defer func() { closed(t, e) }()
		denied, expires := aWish("stdio", 1), aWish("stdio", 2)
		r := wishes(t, e, denied)
		must(t, e.Deny(t.Context(), r.ID, "not now"))
		if r = wishes(t, e, denied); r.State != react.Denied || r.Reason != "not now" {
			t.Fatalf("%s, %q", r.State, r.Reason)
		}
		must(t, e.Undeny(t.Context(), r.ID))
		if r = wishes(t, e, denied); r.State != react.Asking {
			t.Fatal(r.State)
		}
		must(t, e.Deny(t.Context(), r.ID, "no"))
		wishes(t, e, expires)
		rest(react.WishStands - 5*time.Second)
		if r = wishes(t, e, denied); r.State != react.Denied {
			t.Error(r.State)
		}
		rest(10 * time.Second)
		if r = wishes(t, e, denied); r.State != react.Asking || r.Reason != "" {
			t.Errorf("%s, %q", r.State, r.Reason)
		}
		if r = wishes(t, e, expires); r.State != react.Expired || w.acts() != 0 {
			t.Errorf("%s, begun %v", r.State, w.begun)
		}
		closed(t, e)
		e, _ = w.open("", 0)
		if n := len(runsOf(t, e, react.Query{})); n != 2 {
			t.Errorf("%d runs are kept", n)
		}
	})
}

func TestWishesAreBounded(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.opened()
		n := 0
		for client := 0; n < react.MaxWishes; client++ {
			name := fmt.Sprintf("client %d", client)
			for range react.MaxWishesClient {
				n++
				if r := wishes(t, e, aWish(name, n)); r.State != react.Asking {
					t.Fatal(r.State)
				}
			}
			if _, err := e.Wish(t.Context(), aWish(name, -1)); !errors.Is(err, react.ErrWishes) {
				t.Fatalf("one more of %s: %v", name, err)
			}
		}
		if _, err := e.Wish(t.Context(), aWish("another", 0)); !errors.Is(err, react.ErrWishes) {
			t.Error(err)
		}
		first := aWish("client 0", 1)
		if _, err := e.Wish(t.Context(), first); err != nil {
			t.Errorf("one that asks already: %v", err)
		}
		must(t, e.Deny(t.Context(), first.Run(), ""))
		if _, err := e.Wish(t.Context(), aWish("another", 0)); err != nil {
			t.Error(err)
		}
		if _, err := e.Wish(t.Context(), react.Wish{Client: trust.Untrusted("x"), Args: json.RawMessage(`"` + strings.Repeat("x", maxRule) + `"`)}); err == nil {
			t.Error("a wish that cannot be kept was taken")
		}
	})
}

// An engine that is killed at each failpoint carries out no wish that was not approved, and
// each that was, perhaps a second time, which changes nothing.
func TestWishesSurviveKills(t *testing.T) {
	reached := 0
	for _, point := range failpoints {
		for after := range 4 {
			simulated(t, func(t *testing.T) {
				w := newWorld(t)
				approved, other := aWish("stdio", 1), aWish("stdio", 2)
				e, l := w.open(point, after)
				for _, wish := range []react.Wish{approved, other} {
					_, _ = e.Wish(t.Context(), wish) // it may die over it
				}
				rest(time.Second)
				if r, err := e.Run(t.Context(), approved.Run()); err == nil && r.Request != nil {
					_ = e.Approve(t.Context(), r.ID, r.Request.Hash())
				}
				rest(2 * time.Second)
				if l.isDead() {
					reached++
				}
				l.mu.Lock()
				l.dead = true
				l.mu.Unlock()
				closed(t, e)
				e = w.opened()
				rest(time.Second)
				r, first := wishes(t, e, approved), true
				for ; r.State == react.Asking; first = false {
					if !first {
						t.Fatalf("%s %d: it asks again", point, after)
					}
					must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
					r = wishes(t, e, approved)
				}
				if r.State != react.Done {
					t.Errorf("%s %d: the approved one is %s: %s", point, after, r.State, r.Why)
				}
				if r := wishes(t, e, other); r.State != react.Asking || r.Attempt != 0 {
					t.Errorf("%s %d: the other one is %s", point, after, r.State)
				}
			})
		}
	}
	if reached < 10 {
		t.Errorf("only %d engines were killed", reached)
	}
}
