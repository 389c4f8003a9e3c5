package act

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// asked notes what is asked of subscriptions.
type asked struct {
	did []string
	err error
}

func (a *asked) Subscribe(_ context.Context, key event.Key, mode event.Mode) (event.SubID, error) {
	a.did = append(a.did, fmt.Sprintf("begin %s %v %s %s", key.Server, key.Type, key.Args, mode))
	return "newone", a.err
}

func (a *asked) Unsubscribe(_ context.Context, id event.SubID) error {
	a.did = append(a.did, "end "+string(id))
	return a.err
}

func TestClientRequestsAreCarriedOut(t *testing.T) {
	begin := react.ClientRequest{Server: "pager", Type: trust.Untrusted("incident"), Args: json.RawMessage(`{"a":1}`), Mode: event.ModePoll}
	end := react.ClientRequest{Ends: "abcd", Server: "pager"}
	to := &asked{}
	r, err := New(Options{Dir: t.TempDir(), Executable: "/bin/true", Subscriptions: to})
	if err != nil {
		t.Fatal(err)
	}
	carry := func(w react.ClientRequest) react.Result {
		t.Helper()
		rule := react.Rule{Name: react.ClientRule, Limits: react.Limits{Time: time.Minute}, Do: react.Do{Wish: &w}}
		req, err := r.Prepare(rule, react.Run{ID: "r"}, nil)
		if err != nil || req.Kind != react.RequestClient || req.Time != time.Minute {
			t.Fatalf("%+v, %v", req, err)
		}
		a, err := r.Ready(t.Context(), req, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Go(nil); err != nil {
			t.Fatal(err)
		}
		res, err := a.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := carry(begin); res.Outcome != react.OutcomeDone || res.Why != "subscription newone" {
		t.Errorf("%+v", res)
	}
	if res := carry(end); res.Outcome != react.OutcomeDone {
		t.Errorf("%+v", res)
	}
	to.err = errors.New("refused")
	if res := carry(begin); res.Outcome != react.OutcomeFailed || res.Why != "refused" {
		t.Errorf("%+v", res)
	}
	if want := []string{`begin pager incident {"a":1} poll`, "end abcd", `begin pager incident {"a":1} poll`}; !slices.Equal(to.did, want) {
		t.Errorf("%q", to.did)
	}
	a, err := r.Adopt(t.Context(), react.Request{Kind: react.RequestClient, Wish: &begin}, react.Handle{Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := a.Wait(t.Context()); err != nil || res.Outcome != react.OutcomeNever {
		t.Errorf("one that was cut off is not carried out again: %+v, %v", res, err)
	}
}
