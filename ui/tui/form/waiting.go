package form

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// SubscribeWithin is how long a form waits for the server to confirm a subscription: the time that a
// server has for a first connection. After that the host goes on trying.
const SubscribeWithin = 10 * time.Second

// ErrLate: the server did not confirm a subscription within [SubscribeWithin].
var ErrLate = errors.New("the server has not confirmed it yet")

// Subscribe subscribes and waits at most [SubscribeWithin]. If no mode fits for auto it tries webhook,
// with the address of this host's receiver. It is called in the background. Errors: [ErrLate], those
// of the host.
func Subscribe(ctx context.Context, h Host, r host.Request) (event.Subscription, error) {
	within, cancel := context.WithTimeoutCause(ctx, SubscribeWithin, ErrLate)
	defer cancel()
	_, err := h.Check(within, r)
	if r.Mode == event.ModeAuto && errors.Is(err, host.ErrMode) {
		r.Mode = event.ModeWebhook
		_, err = h.Check(within, r)
	}
	if err != nil {
		return event.Subscription{}, late(ctx, within, err)
	}
	sub, err := h.Subscribe(within, r)
	return sub, late(ctx, within, err)
}

// late returns [ErrLate] in place of the error of a call that timed out.
func late(outer, within context.Context, err error) error {
	if err != nil && outer.Err() == nil && within.Err() != nil {
		return ErrLate
	}
	return err
}

// existing returns the subscription that has the arguments of the form, nil if there is none.
func (f *Form) existing() *host.SubscriptionView {
	args, err := event.CanonicalArgs(f.model.JSON())
	if err != nil || f.many != nil {
		return nil
	}
	return query.FindSub(f.env.Snap, event.Key{Server: f.server, Type: f.typ.Name, Args: args}.ID())
}

// waitingBanner describes why a subscription is not confirmed, and what to do.
func (f *Form) waitingBanner() banner {
	v := f.existing()
	if v == nil {
		return banner{text: "The server has not answered; nothing is subscribed.", next: "ctrl+s tries again; what you filled in stays"}
	}
	why := evidence.Why(v, f.env.Clock())
	switch {
	case why == "":
		return banner{text: "The server has not confirmed the subscription yet.", next: "esc leaves it; it goes on trying"}
	case v.Status.Reason == event.ReasonUnreachable:
		return banner{text: cells.Sentence(why), next: "esc leaves it; it begins when the server is back"}
	}
	if words, step, ok := evidence.CallbackAdvice(v, f.env.Snap.Receiver); ok {
		return banner{text: words, next: step}
	}
	return banner{text: cells.Sentence(why), next: "esc leaves it; it goes on trying"}
}

// background closes the form while the host goes on trying.
func (f *Form) background() tea.Cmd {
	f.env.Show(nil)
	if v := f.existing(); v != nil {
		f.env.Tell(evidence.SubName(&v.Subscription) + " goes on in the background")
	} else if f.busy {
		f.env.Tell("still asking the server; the answer is told here")
	}
	return nil
}

// answered reports whether the subscription of the form exists and is in trouble.
func (f *Form) answered() bool {
	v := f.existing()
	return v != nil && v.InTrouble()
}
