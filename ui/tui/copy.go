package tui

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

// copyMax bounds the text for the clipboard, in bytes: terminals refuse or cut longer sequences, and
// payloads of servers may be longer.
const copyMax = 48 << 10

// errTooMuch says that a text is longer than [copyMax].
var errTooMuch = errors.New("too much")

// canCopy reports whether the detail shows a record.
func (a *app) canCopy() bool { return a.showsRecord() }

// canCopyLine reports whether a row is chosen, in the stream or in a table.
func (a *app) canCopyLine() bool {
	t := a.table()
	return a.canCopy() || t != nil && t.Chosen()
}

func (a *app) copyPayload() tea.Cmd {
	return a.copyEach("the payload, escaped", "no payload", func(r *event.Record) string {
		if p := detail.PayloadOf(r); len(p) > 0 {
			return string(trust.CompactJSON(p))
		}
		return ""
	})
}

func (a *app) copyID() tea.Cmd {
	return a.copyEach("the event id, escaped", "no event id", func(r *event.Record) string { return trust.Line(r.EventID).Plain() })
}

func (a *app) copyCursor() tea.Cmd {
	return a.copyEach("the cursor, escaped", "no cursor", func(r *event.Record) string {
		if !r.Cursor.Valid {
			return ""
		}
		return trust.Line(r.Cursor.Text).Plain()
	})
}

// copyLine copies rows as text; rows of the stream get a date.
func (a *app) copyLine() tea.Cmd {
	if t := a.table(); t != nil {
		return a.Copy("the row", t.Line())
	}
	return a.copyEach("the row", "no row", func(r *event.Record) string { return lineOf(*r) })
}

// lineOf returns a record as one line of safe text.
func lineOf(r event.Record) string {
	row := stream.Row(r, new(reading.Map), &stream.Plan{})
	return strings.Join([]string{r.ReceivedAt.Local().Format("2006-01-02 15:04:05.000"), row.Server.Plain(), row.Type.Plain(), row.Text.Plain()}, "  ")
}

// copyCommand copies a command line that prints the same events.
func (a *app) copyCommand() tea.Cmd {
	return a.copyEach("the command", "no command that another process could run", func(r *event.Record) string {
		server, known := a.knownElsewhere(r.Server)
		if !known {
			return ""
		}
		line := []string{"eventdeck", "tail", evidence.ShellQuote(server), evidence.ShellQuote(r.Type.Raw())}
		if v := a.sub(r.Sub); v != nil {
			line = append(line, "--mode", string(v.Mode))
			if !evidence.NoArgs(v.Key.Args) {
				line = append(line, "--args", evidence.ShellQuote(string(trust.CompactJSON(v.ShownArgs()))))
			}
		}
		return cells.Sanitize(strings.Join(line, " ")).Plain()
	})
}

// knownElsewhere returns the word for a server on the command line of another process: its name, or
// the address of a demo server, which may have none.
func (a *app) knownElsewhere(name string) (word string, known bool) {
	if !a.isDemo(name) {
		return name, true
	}
	s := query.FindServer(&a.snap, name)
	if s == nil || !strings.Contains(s.Address, "://") {
		return "", false
	}
	return s.Address, true
}

// commandElsewhere returns a command line about a server in a form for another process, "" if there
// is none.
func (a *app) commandElsewhere(server, command string) string {
	word, known := a.knownElsewhere(server)
	if !known {
		return ""
	}
	return strings.Replace(command, " "+evidence.ShellQuote(server)+" ", " "+evidence.ShellQuote(word)+" ", 1)
}

// copyRaw copies the unescaped bytes. The terminal gets them in base64, but they may have an effect
// where they are pasted.
func (a *app) copyRaw() tea.Cmd {
	r, _ := a.detail.Payload()
	return a.Copy("the RAW bytes: they may act where they are pasted", string(detail.PayloadOf(&r)))
}

// copyEach copies a text of the chosen record, or of each record in the range on its own line. what
// names the text, none its absence.
func (a *app) copyEach(what, none string, text func(*event.Record) string) tea.Cmd {
	return a.withSelected(func(records []event.Record) tea.Cmd {
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
			if n, last = n+1, t; b.Len() > copyMax {
				break
			}
		}
		said := what
		switch {
		case n == 0:
			a.Tell("not copied: there is " + none + " here")
			return nil
		case n > 1:
			said = fmt.Sprintf("%s of %s", what, cells.Count(n, "record"))
		}
		return a.Copy(said, b.String())
	})
}

// Copy sends text to the terminal (OSC 52) and to the system's clipboard. The terminal does not
// confirm it.
func (a *app) Copy(what, text string) tea.Cmd {
	if len(text) > copyMax {
		a.Fail("not copied", fmt.Errorf("%w: a terminal takes %d KiB; %s writes it to a file", errTooMuch, copyMax>>10, a.KeyOf("export")))
		return nil
	}
	a.Tell(fmt.Sprintf("copied %s (%s)", what, cells.Count(len(text), "byte")))
	if native := a.outside.Programs.Copy(text); native != nil {
		return tea.Batch(tea.SetClipboard(text), native)
	}
	return tea.SetClipboard(text)
}
