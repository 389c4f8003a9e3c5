package form

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/form"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// keptTemplates is the setting with earlier subscriptions.
const keptTemplates = "ui.templates"

// maxTemplates bounds the earlier subscriptions; the oldest are dropped.
const maxTemplates = 50

// template is an earlier subscription.
type template struct {
	Server string          `json:"server"`
	Type   string          `json:"type"`
	Args   json.RawMessage `json:"args"`
	Mode   event.Mode      `json:"mode"`
	TTL    string          `json:"ttl,omitempty"`
	At     time.Time       `json:"at"`
}

// templatesFor returns the earlier subscriptions to a type, newest first: those at
// the same server, then those at others.
func templatesFor(all []template, server string, typ trust.Text) []template {
	var own, others []template
	for _, t := range all {
		switch {
		case t.Type != typ.Raw():
		case t.Server == server:
			own = append(own, t)
		default:
			others = append(others, t)
		}
	}
	return append(own, others...)
}

// allTemplates reads the earlier subscriptions; nil if they cannot be read.
func allTemplates(h Host) []template {
	text, err := h.Setting(keptTemplates)
	var all []template
	if err != nil || json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	return all
}

// shownArgs returns the arguments with secrets masked by both schemas: that of the type in the form,
// and that of the template's own server.
func (t *template) shownArgs(e *Env, typ event.Type) json.RawMessage {
	own := query.TypeOf(e.Snap, t.Server, trust.Untrusted(t.Type))
	return schema.MaskArguments(own, schema.MaskArguments(typ, t.Args))
}

// keep returns a function that saves a request as a template.
func (f *Form) keep(r host.Request) func(context.Context) error {
	t := template{Server: r.Server, Type: r.Type.Raw(), Args: r.Args, Mode: r.Mode, TTL: f.ttl, At: f.env.Clock().UTC()}
	return func(ctx context.Context) error {
		all := slices.DeleteFunc(allTemplates(f.env.Host), func(o template) bool {
			return o.Server == t.Server && o.Type == t.Type && bytes.Equal(o.Args, t.Args)
		})
		all = append([]template{t}, all...)
		raw, err := json.Marshal(all[:min(len(all), maxTemplates)])
		if err != nil {
			return err
		}
		return f.env.Host.SetSetting(ctx, keptTemplates, string(raw))
	}
}

// templatePicker is the dialog to choose an earlier subscription.
type templatePicker struct {
	env     *Env
	form    *Form
	list    []template
	chooser widget.Chooser
}

func (f *Form) openTemplates() tea.Cmd {
	e := f.env
	return e.Do(func(context.Context) tea.Msg {
		all := allTemplates(e.Host)
		return widget.Then(func() tea.Cmd {
			list := templatesFor(all, f.server, f.typ.Name)
			switch {
			case len(list) == 0:
				f.banner = banner{text: "there is no earlier subscription to this type"}
			case e.Shown() == widget.Dialog(f):
				e.Show(&templatePicker{env: e, form: f, list: list})
			}
			return nil
		})
	})
}

func (p *templatePicker) Title() string            { return "Earlier subscriptions" }
func (p *templatePicker) Size(int, int) (int, int) { return 76, len(p.list) }

func (p *templatePicker) Draw(c *cells.Canvas, h int) {
	e := p.env
	first, end := p.chooser.Visible(len(p.list), h)
	for i := first; i < end; i++ {
		t := &p.list[i]
		c.Mark(i == p.chooser.At, e.Glyphs.Cursor)
		c.Put(themes.Dim, cells.TimeText(t.At, e.Times.Zone(), "01-02 15:04")+" ")
		c.Put(themes.Plain, cells.Pad(string(t.Mode), 7))
		c.Safe(themes.Server, cells.Sanitize(t.Server).Clip(min(c.Room, 20)))
		c.Put(themes.Plain, " ")
		c.Safe(themes.Plain, cells.Sanitize(string(t.shownArgs(e, p.form.typ))).Clip(c.Room))
		c.End()
	}
}

func (p *templatePicker) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch name {
	case "esc", "q", "ctrl+t":
		p.env.Show(p.form)
	case "enter":
		p.env.Show(p.form)
		return p.form.use(p.list[p.chooser.At])
	default:
		p.chooser.Key(name, len(p.list))
	}
	return nil
}

func (p *templatePicker) Hints() []string {
	return []string{"j k", "move", "enter", "take over", "esc", "back"}
}

// use fills in the form from an earlier subscription.
func (f *Form) use(t template) tea.Cmd {
	if err := f.model.Load(t.Args); err != nil {
		f.banner = banner{text: err.Error()}
		return nil
	}
	f.banner, f.edited = banner{}, true
	f.ttl = t.TTL
	for i, m := range f.modes {
		if m.mode == t.Mode && m.why == "" {
			f.chosen = true
			f.setMode(i)
		}
	}
	f.refusals = map[*form.Entry]string{}
	f.enter(f.items()[0])
	f.validate()
	return tea.Batch(f.check(), f.ask())
}
