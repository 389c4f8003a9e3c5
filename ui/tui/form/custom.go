package form

import (
	"context"
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/form"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// Custom describes a form about an event type for another purpose than subscribing. Its fields are
// those of a JSON Schema.
type Custom struct {
	Title  string
	Verb   string // the label of the button
	Server string
	Type   trust.Text
	Schema json.RawMessage
	Filled json.RawMessage // the initial values
	// Preview describes what Send would do with the values. Both are called in the background.
	Preview func(ctx context.Context, filled json.RawMessage) Preview
	Send    func(ctx context.Context, filled json.RawMessage) error
	Sent    func(filled json.RawMessage) // called on the event loop after Send has succeeded
}

// Preview describes what a [Custom] form would do.
type Preview struct {
	Head  string
	Text  string
	Notes []string
	Wrong string // why it cannot be done; "" if it can
}

// OpenCustom shows a custom form.
func OpenCustom(e *Env, of Custom) tea.Cmd {
	t := event.Type{Name: of.Type, InputSchema: of.Schema}
	f := &Form{env: e, server: of.Server, typ: t, custom: &of, model: form.New(t, e.Clock), refusals: map[*form.Entry]string{}}
	if err := f.model.Load(of.Filled); err != nil {
		e.Fail("cannot fill in the form", err)
		return nil
	}
	return f.open()
}

// modeNow returns the chosen mode, the zero value in a custom form.
func (f *Form) modeNow() modeChoice {
	if f.custom != nil {
		return modeChoice{}
	}
	return f.modes[f.mode]
}

// waits returns the text of the button while the form is being sent.
func (f *Form) waits() string {
	if f.custom != nil {
		return "a moment"
	}
	return "asking the server"
}

func (f *Form) sendCustom() tea.Cmd {
	f.busy, f.banner = true, banner{}
	filled, of := f.model.JSON(), f.custom
	return f.env.Do(func(ctx context.Context) tea.Msg {
		err := of.Send(ctx, filled)
		return widget.Done{Err: err, From: f, After: func() { of.Sent(filled) }}
	})
}

// askCustom updates the preview if the values have changed.
func (f *Form) askCustom() tea.Cmd {
	filled := f.model.JSON()
	if f.shown.key == string(filled) {
		return nil
	}
	f.shown.key = string(filled)
	return f.env.Do(func(ctx context.Context) tea.Msg {
		p := f.custom.Preview(ctx, filled)
		return widget.Then(func() tea.Cmd {
			if f.shown.key == string(filled) {
				f.shown.custom = p
			}
			return nil
		})
	})
}

func (f *Form) drawCustom(c *cells.Canvas) {
	p := &f.shown.custom
	c.Put(themes.Strong, " "+p.Head)
	c.End()
	c.Lines(themes.Plain, " ", themes.Plain, trust.Block(trust.Untrusted(p.Text), max(1, c.Width-2)))
	c.End()
	c.Lines(themes.Bad, " ", themes.Bad, cells.Wrap(p.Wrong, c.Width-2, 4))
	for _, note := range p.Notes {
		c.Lines(themes.Plain, " ", themes.Key, cells.Wrap(note, c.Width-2, 4))
	}
}
