package dialect

import (
	"strings"
	"testing"
	"time"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const renewingTools = `"result":{"tools":[{"name":"events_subscribe"},{"name":"events_update"}]}`

// renewing is a desk whose subscriptions can be renewed.
func renewing(k *desk) func(call) string {
	return func(c call) string {
		if c.method == "tools/list" {
			return renewingTools
		}
		return k.answer(c)
	}
}

func endOf(t *testing.T, k *desk, id string) time.Time {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	end, _ := trust.Untrusted(strings.Trim(string(k.subs[id]["expiresAt"]), `"`)).Time()
	return end
}

// A subscription is made with an end and renewed before it: it does not stay on the server when this
// host is gone.
func TestSubscriptionsHaveAnEndThatIsRenewed(t *testing.T) {
	k := newDesk()
	p := newPeer(t, filterCapabilities, renewing(k))
	d, _ := p.connect(Options{Lease: 2 * time.Second})
	s, _, id := openFiltered(t, d, filteredRequest(`{"eventTypes":["a.*"]}`))
	first := endOf(t, k, id)
	if left := time.Until(first); left <= 0 || left > 2*time.Second {
		t.Errorf("it is made with %v left", left)
	}
	for n := 1; n <= 2; n++ {
		c := p.await("a renewal", n, isTool(wire.ToolUpdate))
		if c.param("arguments", "subscriptionId") != `"`+id+`"` || c.param("arguments", "filter") != "" || c.param("arguments", "expiresAt") == "" {
			t.Errorf("renewed with %s", c.params)
		}
	}
	if end := endOf(t, k, id); !end.After(first) {
		t.Errorf("it still ends at %v", end)
	}
	s.Close()
	done(t, s)
}

// A lease that lapsed, though nobody planned that, ends the stream with an error, so that it is opened
// again; an end that the operator set is planned, and not moved.
func TestOnlyAnEndOfTheOperatorIsPlanned(t *testing.T) {
	k := newDesk()
	p := newPeer(t, filterCapabilities, renewing(k))
	d, _ := p.connect(Options{})
	s, _, id := openFiltered(t, d, filteredRequest(`{"eventTypes":["a.*"]}`))
	p.say("events/subscription_expired", `{"subscriptionId":"`+id+`"}`)
	done(t, s)
	if s.Err() == nil || !strings.Contains(s.Err().Error(), "before it was renewed") {
		t.Errorf("the stream ended with %v", s.Err())
	}
	end := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	_, r, own := openFiltered(t, d, filteredRequest(`{"eventTypes":["b.*"],"expiresAt":"`+end+`"}`))
	if got := endOf(t, k, own).Format(time.RFC3339); got != end {
		t.Errorf("the operator's end is %s, want %s", got, end)
	}
	p.say("events/subscription_expired", `{"subscriptionId":"`+own+`"}`)
	if n := r.next(wire.NoteTerminated); !n.Planned {
		t.Errorf("%s is not planned", n.Params)
	}
}

// A server that cannot move an end gets none; nor does a subscription that another client may have
// made. A scheduled one stays longer, and one that was held gets an end.
func TestWhichSubscriptionsGetAnEnd(t *testing.T) {
	k := newDesk()
	d, _ := newPeer(t, filterCapabilities, k.answer).connect(Options{})
	_, _, id := openFiltered(t, d, filteredRequest(`{"eventTypes":["a.*"]}`))
	if end := endOf(t, k, id); !end.IsZero() {
		t.Errorf("without the tool it ends at %v", end)
	}

	k = newDesk()
	d, _ = newPeer(t, filterCapabilities, renewing(k)).connect(Options{})
	_, _, id = openFiltered(t, d, filteredRequest(`{"channels":["cron"],"cronExpression":"0 9 * * *"}`))
	if left := time.Until(endOf(t, k, id)); left < 6*24*time.Hour {
		t.Errorf("a scheduled one has %v", left)
	}
	foreign := filteredRequest(`{"eventTypes":["f.*"]}`)
	s, _, id := openFiltered(t, d, foreign)
	s.Close()
	done(t, s)
	for _, held := range []string{"", id} {
		k.mu.Lock()
		delete(k.subs[id], "expiresAt")
		k.mu.Unlock()
		foreign.Held = trust.Untrusted(held)
		s, _, again := openFiltered(t, d, foreign)
		if again != id || endOf(t, k, id).IsZero() == (held != "") {
			t.Errorf("adopted %s, held %q: it ends at %v", again, held, endOf(t, k, id))
		}
		s.Close()
		done(t, s)
	}
}
