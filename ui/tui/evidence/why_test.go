package evidence

import (
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func TestQuietnessNamesTheCause(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	refused := event.Refused{Count: 12, Last: now.Add(-time.Minute), Reason: "signature wrong"}
	for name, tt := range map[string]struct {
		mode   event.Mode
		status delivery.Status
		want   []string
		not    string
	}{
		"refused": {event.ModeWebhook, delivery.Status{State: event.StateRefused, Reason: event.ReasonRefused, Refused: refused},
			[]string{"cause   delivery refused here: signature wrong", "signature wrong, 12 refused in all, last 1 m ago"}, "leaves no trace"},
		"refused beside a challenge": {event.ModeWebhook, delivery.Status{State: event.StateBackoff, Attempt: 2, Reason: event.ReasonChallenge, Refused: refused},
			[]string{"cause   callback refused: not verified, 2 tries", "signature wrong, 12 refused"}, ""},
		"sign-in":     {event.ModePoll, delivery.Status{State: event.StateBackoff, Attempt: 1, Reason: event.ReasonSignIn}, []string{"cause   needs sign-in, 1 try"}, ""},
		"denied":      {event.ModePoll, delivery.Status{State: event.StateDenied}, []string{"the server refuses for lack of rights"}, ""},
		"away":        {event.ModePush, delivery.Status{State: event.StateStarting, Reason: event.ReasonUnreachable}, []string{"cause   unreachable: no answer"}, ""},
		"proving":     {event.ModePush, delivery.Status{State: event.StateLive, Reason: event.ReasonProving, LastHeartbeat: now}, []string{"proves nothing: it is being proved"}, "nothing happened"},
		"unconfirmed": {event.ModePush, delivery.Status{State: event.StateStarting}, []string{"has not confirmed the subscription yet", "the stream was not confirmed in this run"}, ""},
	} {
		v := host.SubscriptionView{Subscription: event.Subscription{Mode: tt.mode}, Status: tt.status}
		var lines []string
		for _, f := range Quietness(&v, false, now) {
			lines = append(lines, f.Label+f.Text.Plain())
		}
		said := strings.Join(lines, "\n")
		for _, want := range tt.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, said)
			}
		}
		if tt.not != "" && strings.Contains(said, tt.not) {
			t.Errorf("%s: %q must not be said:\n%s", name, tt.not, said)
		}
	}
	v := host.SubscriptionView{Status: delivery.Status{State: event.StateRefused, Refused: event.Refused{Count: 1, Reason: "x"}}}
	if got := Of(v, now); got != "x, 1 refused in all" {
		t.Errorf("a row says %q", got)
	}
	v.Status.Error = trust.Untrusted("x, 1 delivery refused")
	if got := Of(v, now); got != "" {
		t.Errorf("a row says %q beside its error, which says the same", got)
	}
}
