package form

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
	"eventdeck/ui/tui/widget"
)

// settings returns the values of the form that are not arguments, for comparison.
func (f *Form) settings() string { return f.age + "\x00" + f.ttl + "\x00" + f.end }

// confirmEdit asks before arguments change, and reports whether they do: arguments identify a
// subscription, so a new one begins and the old one ends.
func (f *Form) confirmEdit() bool {
	e := f.env
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
	e.Show(&widget.Confirm{Screen: e,
		Head: "Change the subscription", Lines: text,
		Choices: []widget.Choice{{Key: "y", Title: "unsubscribe and subscribe again", Run: func() tea.Cmd {
			e.Show(f)
			return f.subscribe()
		}}},
		Cancelled: func() { e.Show(f) },
	})
	return true
}

// difference returns the differences between arguments of a type, one member per line, with secrets
// masked.
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

// sendMany subscribes to every type, and reports those that failed.
func (f *Form) sendMany() tea.Cmd {
	e := f.env
	f.busy, f.banner = true, banner{}
	r, many := f.request(), f.many
	r.Secret = event.Secret{} // each gets its own
	return e.Do(func(ctx context.Context) tea.Msg {
		var failed []string
		for _, n := range many {
			r.Server, r.Type = n.Server, n.Type
			if _, err := Subscribe(ctx, e.Host, r); err != nil && !errors.Is(err, host.ErrUnconfirmed) {
				failed = append(failed, trust.Line(n.Type).Plain()+": "+err.Error())
			}
		}
		msg := widget.Done{What: "subscribed to " + cells.Count(len(many), "type"), From: f, After: f.sent}
		if len(failed) > 0 {
			msg.Err = fmt.Errorf("%d of %d failed: %s", len(failed), len(many), strings.Join(failed, "; "))
		}
		return msg
	})
}
