package form

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/form"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// banner is the message at the top of a form: what failed and what to do.
type banner struct {
	text string
	next string
}

// send subscribes if the form is valid.
func (f *Form) send() tea.Cmd {
	if f.busy {
		return nil
	}
	f.submitted, f.preview = true, false
	f.validate()
	if !f.sendable() {
		return nil
	}
	if f.custom != nil {
		return f.sendCustom()
	}
	if f.many != nil {
		return f.sendMany()
	}
	if f.old != nil && f.confirmEdit() {
		return nil
	}
	return f.subscribe()
}

// sendable reports whether the form is valid; otherwise it moves the focus to the first wrong item.
func (f *Form) sendable() bool {
	if c := f.modeNow(); c.why != "" {
		f.banner = banner{text: string(c.mode) + ": " + c.why}
		f.enter(formItem{kind: itemMode})
		return false
	}
	for _, it := range f.items() {
		wrong := false
		switch it.kind {
		case itemField:
			wrong = f.problemOf(it.entry) != ""
		case itemAge:
			wrong = durationProblem(f.age, true) != ""
		case itemTTL:
			wrong = durationProblem(f.ttl, false) != ""
		case itemEnd:
			wrong = f.endProblem() != ""
		}
		if wrong {
			f.enter(it)
			return false
		}
	}
	for _, p := range f.problems {
		f.banner = banner{text: p.Text, next: "ctrl+e edits the arguments as JSON"}
		return false
	}
	return true
}

func (f *Form) subscribe() tea.Cmd {
	e := f.env
	f.busy, f.late, f.banner = true, false, banner{}
	r, old := f.request(), f.old
	done := widget.Done{What: "subscribed to " + evidence.RequestName(f.typ, r), From: f}
	keep := f.keep(r)
	return e.Do(func(ctx context.Context) tea.Msg {
		var sub event.Subscription
		sub, done.Err = Subscribe(ctx, e.Host, r)
		done.What, done.Err = evidence.Unconfirmed(done.What, done.Err)
		if done.Err == nil && old != nil && old.ID != sub.ID {
			done.What += "; the one before is ended"
			done.Err = e.Host.Unsubscribe(ctx, old.ID)
		}
		if done.Err == nil {
			done.Err = keep(ctx)
		}
		return done
	})
}

// ShowError implements [widget.Asker]: it shows an error of the server at the field that it is
// about, any other error above the form.
func (f *Form) ShowError(err error) {
	e := f.env
	if errors.Is(err, ErrLate) {
		f.late = true
		return // waitingBanner explains it
	}
	if f.custom != nil {
		f.banner = banner{text: err.Error()}
		return
	}
	refusal, ok := host.RefusalOf(err)
	if !ok {
		f.banner = banner{text: err.Error()}
		if errors.Is(err, host.ErrUnreachable) {
			f.banner.next = "ctrl+s tries again; what you filled in stays"
		}
		return
	}
	text := refusal.Message
	if text.IsZero() {
		text = trust.OfError(err)
	}
	if e := f.refusedField(refusal); refusal.Name == host.RefusedParams && e != nil {
		f.serverSays(e, text)
		return
	}
	f.banner = banner{text: refusalText(refusal, err), next: nextStep(refusal, e.Snap.Receiver)}
	if refusal.Name == host.RefusedMode {
		f.modes[f.mode].why = "refused by the server: " + trust.Line(text).Plain()
		f.token++ // a running check does not know of the refusal
		f.nextMode(1)
		f.enter(formItem{kind: itemMode})
	}
}

// refusedField returns the field that a refusal names, else the deepest one whose name is a word of
// its message; nil if there is none.
func (f *Form) refusedField(refusal host.Refusal) *form.Entry {
	if !refusal.Field.IsZero() {
		if e := f.model.Named(refusal.Field.Raw()); e != nil {
			return e
		}
	}
	var best *form.Entry
	words := strings.FieldsFunc(refusal.Message.Raw(), func(r rune) bool { return strings.ContainsRune(" \t\n\"'`.,:;()[]{}/", r) })
	for _, e := range f.model.Entries() {
		for _, w := range words {
			if !e.Heading && w == e.Name().Raw() && w != "" && (best == nil || len(e.Path) > len(best.Path)) {
				best = e
			}
		}
	}
	return best
}

// refusalText describes a refusal.
func refusalText(refusal host.Refusal, err error) string {
	if refusal.Name == host.RefusedCallback {
		return evidence.CallbackText(refusal.Reason.Raw())
	}
	return err.Error()
}

// nextStep says what the operator can do about a refusal.
func nextStep(refusal host.Refusal, receiver string) string {
	switch refusal.Name {
	case host.RefusedParams:
		return "ctrl+e edits the arguments as JSON"
	case host.RefusedMode:
		return "choose another way of delivery"
	case host.RefusedRights:
		return "give the server a token: a header in servers.json, or --header"
	case host.RefusedLimit:
		return "end another subscription at this server, or try later"
	case host.RefusedUnknown:
		return "the server no longer has this type; refresh its list"
	case host.RefusedCallback:
		return evidence.CallbackStep(refusal.Reason.Raw(), receiver)
	}
	return ""
}
