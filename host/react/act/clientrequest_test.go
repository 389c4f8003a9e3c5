package act

import (
	"context"
	"encoding/json"
	"errors"
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

func (a *asked) Carry(_ context.Context, w react.ClientRequest) error {
	a.did = append(a.did, string(w.Act)+" "+string(w.Subscription()))
	return a.err
}

func TestClientRequestsAreCarriedOut(t *testing.T) {
	begin := react.ClientRequest{Act: react.ClientBegin, Server: "pager", Type: trust.Untrusted("incident"), Args: json.RawMessage(`{"a":1}`), Mode: event.ModePoll}
	end := react.ClientRequest{Act: react.ClientEnd, Sub: "abcd", Server: "pager"}
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
	if res := carry(begin); res.Outcome != react.OutcomeDone || res.Why != "subscription "+string(begin.Subscription()) {
		t.Errorf("%+v", res)
	}
	if res := carry(end); res.Outcome != react.OutcomeDone || res.Why != "subscription abcd is ended" {
		t.Errorf("%+v", res)
	}
	to.err = errors.New("refused")
	if res := carry(begin); res.Outcome != react.OutcomeFailed || res.Why != "refused" {
		t.Errorf("%+v", res)
	}
	if want := []string{"begin " + string(begin.Subscription()), "end abcd", "begin " + string(begin.Subscription())}; !slices.Equal(to.did, want) {
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
