package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// editable tells whether the chosen subscription can be edited: its server must
// still list the type.
func (a *app) editable() bool {
	v := a.selected()
	return v != nil && a.listed(query.Node{Server: v.Key.Server, Type: v.Key.Type}) != nil
}

// openEdit shows the form filled in as the chosen subscription is.
func (a *app) openEdit() tea.Cmd {
	v := a.selected()
	t := a.listed(query.Node{Server: v.Key.Server, Type: v.Key.Type})
	f := a.newForm(v.Key.Server, *t, []event.Mode{event.ModePush, event.ModePoll, event.ModeWebhook})
	old := *v
	f.old = &old
	if err := f.model.Load(v.Key.Args); err != nil {
		a.Fail("cannot edit", err)
		return nil
	}
	for i, m := range f.modes {
		if m.mode == v.Mode {
			f.mode, f.chosen = i, true
		}
	}
	f.start = 1
	if v.TTL > 0 {
		f.ttl = v.TTL.String()
	}
	if v.MaxAge > 0 {
		f.start, f.age = customStart, v.MaxAge.String()
	}
	f.kept = f.settings()
	return f.open()
}

// settings are the answers that are not arguments.
func (f *subForm) settings() string { return f.age + "\x00" + f.ttl }

// confirmEdit asks before arguments change: they are part of what the
// subscription is, so another one begins and the old one ends.
func (f *subForm) confirmEdit() bool {
	a := f.app

	args, err := event.CanonicalArgs(f.model.JSON())
	if err != nil || bytes.Equal(args, f.old.Key.Args) {
		return false
	}
	text := []string{"Arguments cannot change: a new subscription begins, then this one ends.", ""}
	text = append(text, difference(f.typ, f.old.Key.Args, args)...)
	if mode := f.modes[f.mode].mode; mode != f.old.Mode {
		text = append(text, fmt.Sprintf("mode  %s, was %s", mode, f.old.Mode))
	}
	text = append(text, "", "Delivery of the new one begins now. Stored events stay.")
	a.Show(&widget.Confirm{Screen: a,
		Head: "Change the subscription", Lines: text,
		Choices: []widget.Choice{{Key: "y", Title: "unsubscribe and subscribe anew", Run: func() tea.Cmd {
			a.Show(f)
			return f.subscribe()
		}}},
		Gone: func() { a.Show(f) },
	})
	return true
}

// difference says how arguments of a type differ, one member a line, secrets masked.
func difference(t event.Type, before, after json.RawMessage) []string {
	var x, y map[string]json.RawMessage
	if json.Unmarshal(before, &x) != nil || json.Unmarshal(after, &y) != nil {
		return []string{"- " + string(before), "+ " + string(after)}
	}
	var shownX, shownY map[string]json.RawMessage
	if json.Unmarshal(schema.MaskArguments(t, before), &shownX) != nil || json.Unmarshal(schema.MaskArguments(t, after), &shownY) != nil {
		return nil
	}
	names := map[string]bool{}
	for name := range x {
		names[name] = true
	}
	for name := range y {
		names[name] = true
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if bytes.Equal(x[name], y[name]) {
			continue
		}
		label := trust.Line(trust.Untrusted(name)).Plain()
		if v, ok := shownX[name]; ok {
			lines = append(lines, "- "+label+": "+string(v))
		}
		if v, ok := shownY[name]; ok {
			lines = append(lines, "+ "+label+": "+string(v))
		}
	}
	return lines
}

// markType takes an event type into those that are subscribed to together, or out.
func (a *app) markType() {
	n := a.tree.at
	if a.marked == nil {
		a.marked = map[query.Node]bool{}
	}
	if a.marked[n] {
		delete(a.marked, n)
	} else {
		a.marked[n] = true
	}
	a.tree.drawn = treeKey{}
	a.Tell(cells.Count(len(a.marked), "type") + " marked; " + a.keyOf("subscribe") + " subscribes to all of them")
}

func (a *app) onType() bool { return a.tree.at.Level() == 2 && a.listed(a.tree.at) != nil }

// openBulk shows one form for the types that are marked.
func (a *app) openBulk() tea.Cmd {
	var many []query.Node
	for n := range a.marked {
		if a.listed(n) != nil {
			many = append(many, n)
		}
	}
	if len(many) == 0 {
		a.marked = nil
		a.Tell("the marked types are no longer there")
		return nil
	}
	slices.SortFunc(many, func(x, y query.Node) int {
		return strings.Compare(x.Server+"\x00"+x.Type.Raw(), y.Server+"\x00"+y.Type.Raw())
	})
	first := *a.listed(many[0])
	differ := false
	shared := event.Type{Name: first.Name, InputSchema: first.InputSchema, Modes: first.Modes}
	for _, n := range many[1:] {
		t := a.listed(n)
		if !bytes.Equal(t.InputSchema, shared.InputSchema) {
			shared.InputSchema, differ = nil, true
		}
		shared.Modes = slices.DeleteFunc(slices.Clone(shared.Modes), func(m event.Mode) bool { return !t.Offers(m) })
	}
	f := a.newForm(many[0].Server, shared, []event.Mode{event.ModeAuto, event.ModePush, event.ModePoll, event.ModeWebhook})
	for i, m := range f.modes {
		if m.why != "" {
			f.modes[i].why = "not offered by all of them"
		}
	}
	f.many, f.differ = many, differ
	if differ {
		f.model.Entries()[0].Hint = trust.Untrusted("JSON")
	}
	return f.open()
}

// sendMany subscribes to every type and says which of them failed.
func (f *subForm) sendMany() tea.Cmd {
	a := f.app

	f.busy, f.banner = true, banner{}
	r, many := f.request(), f.many
	r.Secret = event.Secret{} // each gets its own
	return a.Do(func(ctx context.Context) tea.Msg {
		var failed []string
		for _, n := range many {
			r.Server, r.Type = n.Server, n.Type
			if _, err := a.api.Subscribe(ctx, r); err != nil && !errors.Is(err, host.ErrUnconfirmed) {
				failed = append(failed, trust.Line(n.Type).Plain()+": "+err.Error())
			}
		}
		msg := doneMsg{what: "subscribed to " + cells.Count(len(many), "type"), form: f, unmark: true}
		if len(failed) > 0 {
			msg.err = fmt.Errorf("%d of %d failed: %s", len(failed), len(many), strings.Join(failed, "; "))
		}
		return msg
	})
}
