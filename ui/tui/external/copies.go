package external

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

// CopyMax bounds the text for the clipboard, in bytes: terminals refuse or cut longer sequences, and
// payloads of servers may be longer.
const CopyMax = 48 << 10

// errTooMuch says that a text is longer than [CopyMax].
var errTooMuch = errors.New("too much")

// canCopyRow reports whether a row is chosen, in the stream or in a table.
func (x *Outside) canCopyRow() bool {
	t := x.from.Table()
	return x.from.Detail.ShowsRecord() || t != nil && t.Chosen()
}

func (x *Outside) copyPayload() tea.Cmd {
	return x.copyEach("the payload, escaped", "no payload", func(r *event.Record) string {
		if p := detail.PayloadOf(r); len(p) > 0 {
			return string(trust.CompactJSON(p))
		}
		return ""
	})
}

func (x *Outside) copyID() tea.Cmd {
	return x.copyEach("the event id, escaped", "no event id", func(r *event.Record) string { return trust.Line(r.EventID).Plain() })
}

func (x *Outside) copyCursor() tea.Cmd {
	return x.copyEach("the cursor, escaped", "no cursor", func(r *event.Record) string {
		if !r.Cursor.Valid {
			return ""
		}
		return trust.Line(r.Cursor.Text).Plain()
	})
}

// copyLine copies rows as text; rows of the stream get a date.
func (x *Outside) copyLine() tea.Cmd {
	if t := x.from.Table(); t != nil {
		return x.Copy("the row", t.Line())
	}
	return x.copyEach("the row", "no row", func(r *event.Record) string { return lineOf(*r) })
}

// lineOf returns a record as one line of safe text.
func lineOf(r event.Record) string {
	row := stream.Row(r, new(reading.Map), &stream.Plan{})
	return strings.Join([]string{r.ReceivedAt.Local().Format("2006-01-02 15:04:05.000"), row.Server.Plain(), row.Type.Plain(), row.Text.Plain()}, "  ")
}

// copyCommand copies a command line that prints the same events.
func (x *Outside) copyCommand() tea.Cmd {
	return x.copyEach("the command", "no command that another process could run", func(r *event.Record) string {
		server, known := x.from.Word(r.Server)
		if !known {
			return ""
		}
		line := []string{"eventdeck", "tail", evidence.ShellQuote(server), evidence.ShellQuote(r.Type.Raw())}
		if v := query.FindSub(x.from.Snap, r.Sub); v != nil {
			line = append(line, "--mode", string(v.Mode))
			if !evidence.NoArgs(v.Key.Args) {
				line = append(line, "--args", evidence.ShellQuote(string(trust.CompactJSON(v.ShownArgs()))))
			}
		}
		return cells.Sanitize(strings.Join(line, " ")).Plain()
	})
}

// copyRaw copies the unescaped bytes. The terminal gets them in base64, but they may have an effect
// where they are pasted.
func (x *Outside) copyRaw() tea.Cmd {
	r, _ := x.from.Detail.Payload()
	return x.Copy("the RAW bytes: they may act where they are pasted", string(detail.PayloadOf(&r)))
}

// copyEach copies a text of the chosen record, or of each record in the range on its own line. what
// names the text, none its absence.
func (x *Outside) copyEach(what, none string, text func(*event.Record) string) tea.Cmd {
	return x.from.Stream.WithSelected(func(records []event.Record) tea.Cmd {
		var b strings.Builder
		n, last := 0, ""
		for i := range records {
			t := text(&records[i])
			if t == "" || t == last {
				continue
			}
			if n > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(t)
			if n, last = n+1, t; b.Len() > CopyMax {
				break
			}
		}
		said := what
		switch {
		case n == 0:
			x.screen.Tell("not copied: there is " + none + " here")
			return nil
		case n > 1:
			said = fmt.Sprintf("%s of %s", what, cells.Count(n, "record"))
		}
		return x.Copy(said, b.String())
	})
}

// Copy sends text to the terminal (OSC 52) and to the system's clipboard. The terminal does not
// confirm it.
func (x *Programs) Copy(what, text string) tea.Cmd {
	if len(text) > CopyMax {
		x.screen.Fail("not copied", fmt.Errorf("%w: a terminal takes %d KiB; %s writes it to a file", errTooMuch, CopyMax>>10, x.screen.KeyOf("export")))
		return nil
	}
	x.screen.Tell(fmt.Sprintf("copied %s (%s)", what, cells.Count(len(text), "byte")))
	if native := x.SetClipboard(text); native != nil {
		return tea.Batch(tea.SetClipboard(text), native)
	}
	return tea.SetClipboard(text)
}
