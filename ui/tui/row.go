package tui

import (
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
)

// row is one record as the stream shows it: formed once, laid out once for each
// width and look.
type row struct {
	kind   event.Kind
	at     time.Time
	server trust.Rendered
	typ    trust.Rendered
	text   trust.Rendered
	role   themes.Role
	marker bool // no event: a gap, a change of state, a refusal
	signs  signs

	line string // laid out, not chosen
	key  columns
}

// columns are the widths of a stream's columns.
type columns struct {
	width, time, server, typ int
	look                     int
	pan                      int       // cells of the text that are left of the pane
	clock                    timeView  // how times are shown
	now                      int64     // second, where times are relative to it
	before                   time.Time // when the row before was received, where times are relative to that
	mark                     string    // glyph in the first cell
	found                    string    // what is searched and highlighted
}

const (
	timeLong  = "15:04:05.0"
	timeShort = "15:04:05"
)

// formRow makes the row of a record.
func formRow(r event.Record) *row {
	out := &row{
		kind: r.Kind, at: r.ReceivedAt,
		server: ours(r.Server), typ: trust.Line(r.Type),
		marker: r.Kind != event.KindEvent, role: themes.Plain,
	}
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		out.role, out.text = themes.Gap, ours(gapWords(*r.Gap))
	case r.Kind == event.KindState && r.State != nil:
		out.role, out.text = stateRole(r.State.State), stateWords(r)
	case r.Kind == event.KindRejected:
		out.role = themes.Bad
		out.text = join(ours("payload refused: "), trust.Line(r.Reason))
	default:
		out.text = trust.Line(host.Headline(r))
	}
	if !out.marker || r.Kind == event.KindRejected {
		out.signs = signsOf(r)
	}
	return out
}

func stateRole(s event.State) themes.Role {
	switch s {
	case event.StateResumed, event.StateSwitched, event.StateLive:
		return themes.Busy
	case event.StateStale, event.StateBackoff, event.StateSuspended, event.StateDenied, event.StateEnded:
		return themes.Warn
	}
	return themes.Dim
}

func stateWords(r event.Record) trust.Rendered {
	text := string(r.State.State)
	if r.Mode != "" {
		text = modeWord(r.Mode) + " " + text
	}
	if r.State.Evidence != "" {
		text += ", " + r.State.Evidence
	}
	line := ours(text)
	if !r.State.Error.IsZero() {
		line = join(line, ours(": "), trust.Line(r.State.Error))
	}
	return line
}

func join(lines ...trust.Rendered) trust.Rendered {
	var out trust.Rendered
	for _, l := range lines {
		out.Segments = append(out.Segments, l.Segments...)
		out.Width += l.Width
	}
	return out
}

// lay writes the row. Everything but the first cell, which shows the cursor.
func (r *row) lay(c *canvas, g *glyphs, cols columns) {
	if cols.time > 0 {
		c.put(themes.Dim, cols.clock.text(r.at, time.Unix(cols.now, 0), cols.before, cols.time)+" ")
	}
	serverRole, typeRole := themes.Server, themes.Type
	if r.marker {
		serverRole, typeRole = themes.Dim, themes.Dim
	}
	if cols.server > 0 {
		c.column(serverRole, r.server, cols.server)
		c.put(themes.Plain, " ")
	}
	if cols.typ > 0 {
		c.column(typeRole, r.typ, cols.typ)
		c.put(themes.Plain, " ")
	}
	signs := r.signs.fit(c.room)
	text := panned(r.text, cols.pan)
	if r.marker {
		c.put(r.role, g.gap+g.gap+" ")
		c.safe(r.role, text.Clip(max(0, c.room-signs.width())))
		if signs.width() > 0 {
			signs.lay(c)
		} else if c.room > 1 {
			c.put(r.role, " ")
			c.line(r.role, g.gap)
		}
		return
	}
	c.safe(themes.Plain, text.Clip(max(0, c.room-signs.width())))
	signs.lay(c)
}
