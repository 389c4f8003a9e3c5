package form

import (
	"bytes"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/form"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

func newForm(e *Env, server string, t event.Type, modes ...event.Mode) *Form {
	f := &Form{env: e, server: server, typ: t, model: form.New(t, e.Clock), refusals: map[*form.Entry]string{}}
	for _, m := range modes {
		c := modeChoice{mode: m}
		if m != event.ModeAuto && !t.Offers(m) {
			c.why = evidence.NotOffered(t)
		}
		f.modes = append(f.modes, c)
	}
	f.mode = max(0, slices.IndexFunc(f.modes, func(c modeChoice) bool { return c.why == "" }))
	return f
}

// OpenSubscribe shows the form for a subscription to a type.
func OpenSubscribe(e *Env, server string, t event.Type) tea.Cmd {
	return newForm(e, server, t, event.ModePush, event.ModePoll, event.ModeWebhook).open()
}

// OpenEdit shows the form to edit a subscription, whose type is t.
func OpenEdit(e *Env, v host.SubscriptionView, t event.Type) tea.Cmd {
	f := newForm(e, v.Key.Server, t, event.ModePush, event.ModePoll, event.ModeWebhook)
	f.old = &v
	if err := f.model.Load(v.Key.Args); err != nil {
		e.Fail("cannot edit", err)
		return nil
	}
	f.choose(v.Mode)
	f.start = 1
	if v.TTL > 0 {
		f.ttl = v.TTL.String()
	}
	if v.Ends.After(e.Clock()) {
		f.end = v.Ends.In(e.Clock().Location()).Format(time.RFC3339)
	}
	if v.MaxAge > 0 {
		f.start, f.age = customStart, v.MaxAge.String()
	}
	f.kept = f.settings()
	return f.open()
}

// OpenMany shows one form for several types; types[i] is that of nodes[i]. sent is called on the event
// loop when all of them are subscribed to.
func OpenMany(e *Env, nodes []query.Node, types []event.Type, sent func()) tea.Cmd {
	differ := false
	shared := event.Type{Name: types[0].Name, InputSchema: types[0].InputSchema, Modes: types[0].Modes}
	for i := range types {
		t := &types[i]
		if i > 0 && !bytes.Equal(t.InputSchema, shared.InputSchema) {
			shared.InputSchema, differ = nil, true
		}
		shared.Modes = slices.DeleteFunc(slices.Clone(shared.Modes), func(m event.Mode) bool { return !t.Offers(m) })
	}
	f := newForm(e, nodes[0].Server, shared, event.ModeAuto, event.ModePush, event.ModePoll, event.ModeWebhook)
	for i, m := range f.modes {
		if m.why != "" {
			f.modes[i].why = "not offered by all of them"
		}
	}
	f.many, f.differ, f.sent = nodes, differ, sent
	if differ {
		f.model.Entries()[0].Hint = trust.Untrusted("JSON")
	}
	return f.open()
}

// Model returns the values of the form.
func (f *Form) Model() *form.Model { return f.model }

// Secret returns the webhook secret, the zero value if there is none.
func (f *Form) Secret() event.Secret { return f.secret }

// Focus moves the focus to a field.
func (f *Form) Focus(e *form.Entry) { f.enter(formItem{kind: itemField, entry: e}) }

// Focused returns the field with the focus, nil if another item has it.
func (f *Form) Focused() *form.Entry { return f.on.entry }
