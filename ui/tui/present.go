package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/present"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// presented is the host with masked values.
type presented struct {
	*present.Reader
	*present.Actor
	host.Settings
	close func() error
}

func presentedHost(api host.API) host.API {
	r, a := present.Mask(api, api)
	return presented{r, a, api, api.Close}
}

func (p presented) Close() error { return p.close() }

// updateCaptions passes the note to the captions, and returns a command that looks for the newest
// gap, refusal, change of state or event of the demo story.
func (a *app) updateCaptions() tea.Cmd {
	p, last := &a.audience, a.snap.Last
	p.Told(a.Edges.Status.Note.Text)
	from, due := p.Due(last)
	if !due {
		return nil
	}
	log := a.o.API.Log()
	passing, all := slices.Clone(a.demo.Names), a.demo.All
	demo := func(server string) bool { return all || slices.Contains(passing, server) }
	return a.Do(func(context.Context) tea.Msg {
		var newest event.Record
		text := ""
		err := log.After(from, func(r event.Record) bool {
			if r.Seq <= last && r.Kind != event.KindEvent {
				newest, text = r, ""
			}
			if says := present.Caption(&r); says != "" && r.Seq <= last && demo(r.Server) {
				newest, text = r, says
			}
			return r.Seq < last
		})
		return widget.Then(func() tea.Cmd {
			if text == "" && newest.Seq != 0 {
				row := stream.Row(newest, new(reading.Map), &stream.Plan{})
				text = cells.Sanitize(newest.Server).Plain() + " " + trust.Line(newest.Type).Plain() + ": " + row.Text.Plain()
			}
			if p.Looked(last, text); err != nil {
				a.Fail("cannot read the log", err)
			}
			return nil
		})
	})
}
