package tui

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
)

// banner tells at the top of a form what failed and what to do about it.
type banner struct {
	text string
	next string
}

// send subscribes, unless something is wrong that can be seen from here.
func (f *subForm) send() tea.Cmd {
	if f.busy {
		return nil
	}
	f.tried, f.preview = true, false
	f.validate()
	if !f.sendable() {
		return nil
	}
	if f.many != nil {
		return f.sendMany()
	}
	if f.old != nil && f.confirmEdit() {
		return nil
	}
	return f.subscribe()
}

// sendable goes to the first place that is wrong.
func (f *subForm) sendable() bool {
	if c := f.modes[f.mode]; c.why != "" {
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

func (f *subForm) subscribe() tea.Cmd {
	a := f.app

	f.busy, f.banner = true, banner{}
	r, old := f.request(), f.old
	done := doneMsg{what: "subscribed to " + evidence.RequestName(f.typ, r), form: f}
	keep := f.template(r)
	return a.Do(func(ctx context.Context) tea.Msg {
		_, done.err = a.api.Check(ctx, r)
		if done.err == nil {
			var sub event.Subscription
			sub, done.err = a.api.Subscribe(ctx, r)
			done.waits()
			if done.err == nil && old != nil && old.ID != sub.ID {
				done.what += "; the one before is ended"
				done.err = a.api.Unsubscribe(ctx, old.ID)
			}
		}
		if done.err == nil && keep != nil {
			done.err = keep(ctx)
		}
		return done
	})
}

// Refuse shows why a subscription failed, where it belongs.
func (f *subForm) Refuse(err error) {
	a := f.app

	said, ok := host.RefusalOf(err)
	if !ok {
		f.banner = banner{text: err.Error()}
		if errors.Is(err, host.ErrUnreachable) {
			f.banner.next = "ctrl+s tries again; what you filled in stays"
		}
		return
	}
	text := said.Message
	if text.IsZero() {
		text = trust.Untrusted(err.Error())
	}
	if e := f.meant(said); said.Name == host.RefusedParams && e != nil {
		f.serverSays(e, text)
		return
	}
	f.banner = banner{text: err.Error(), next: nextStep(said, a.snap.Receiver)}
	if said.Name == host.RefusedMode {
		f.modes[f.mode].why = "refused by the server: " + trust.Line(text).Plain()
		f.token++ // an answer that is on its way does not know it
		f.nextMode(1)
		f.enter(formItem{kind: itemMode})
	}
}

// meant returns the field that a refusal is about: the one it names, else the
// one whose name stands in the message.
func (f *subForm) meant(said host.Refusal) *form.Entry {
	if !said.Field.IsZero() {
		if e := f.model.Named(said.Field.Raw()); e != nil {
			return e
		}
	}
	var best *form.Entry
	words := strings.FieldsFunc(said.Message.Raw(), func(r rune) bool { return strings.ContainsRune(" \t\n\"'`.,:;()[]{}/", r) })
	for _, e := range f.model.Entries() {
		for _, w := range words {
			if !e.Heading && w == e.Name().Raw() && w != "" && (best == nil || len(e.Path) > len(best.Path)) {
				best = e
			}
		}
	}
	return best
}

// nextStep says what the operator can do about a refusal.
func nextStep(said host.Refusal, receiver string) string {
	switch said.Name {
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
		return callbackStep(said.Reason.Raw(), receiver)
	}
	return ""
}

func callbackStep(reason, receiver string) string {
	if receiver == "" {
		receiver = "this host's receiver"
	}
	switch reason {
	case "connection_refused", "timeout":
		return "the server cannot reach " + receiver + ": use push or poll, or start with --callback-url and a tunnel"
	case "tls_error":
		return "the server does not trust the certificate: eventdeck ca says where the authority is"
	case "http_4xx", "http_5xx":
		return "something else answers at the address: check the tunnel or proxy in front of " + receiver
	case "challenge_failed":
		return "the answer to the challenge was changed on its way: check the proxy in front of " + receiver
	}
	return "use push or poll, or start with another --callback-url"
}

// quoteArg quotes a word for a POSIX shell where it needs it.
func quoteArg(s string) string {
	plain := s != ""
	for _, r := range s {
		plain = plain && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:@%+=,", r))
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
