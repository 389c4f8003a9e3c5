package tui

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/stream"
)

// copyMax bounds what goes to the clipboard, in bytes: terminals refuse or cut
// longer sequences, and a server decides how long its payload is.
const copyMax = 48 << 10

// errTooMuch: more than a clipboard takes.
var errTooMuch = errors.New("too much")

func copyActions() []action {
	return grouped("Copy",
		action{id: "copy", title: "copy the payload, escaped", keys: []string{"y p", "y y"}, hint: "payload", menu: "copy", when: (*app).canCopy, run: (*app).copyPayload},
		action{id: "copy.id", title: "copy the event id, escaped", keys: []string{"y i"}, hint: "id", when: (*app).canCopy, run: (*app).copyID},
		action{id: "copy.cursor", title: "copy the cursor, escaped", keys: []string{"y c"}, hint: "cursor", when: (*app).canCopy, run: (*app).copyCursor},
		action{id: "copy.command", title: "copy a command line that subscribes to the same", keys: []string{"y k"}, hint: "command", when: (*app).canCopy, run: (*app).copyCommand},
		action{id: "copy.line", title: "copy the row as text", keys: []string{"y l"}, hint: "line", menu: "copy", when: (*app).canCopyLine, run: (*app).copyLine},
		action{id: "copy.raw", title: "copy the raw bytes: they may act when pasted", keys: []string{"y r"}, hint: "raw bytes", when: (*app).onPayload, run: (*app).copyRaw},
	)
}

// canCopy tells whether a record is chosen or a range is selected, and shown.
func (a *app) canCopy() bool { return a.showsRecord() }

// canCopyLine tells whether there is a row: of the stream, or of a table.
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

// copyLine copies rows as they read; those of the stream with the date.
func (a *app) copyLine() tea.Cmd {
	if t := a.table(); t != nil {
		return a.Copy("the row", t.Line())
	}
	return a.copyEach("the row", "no row", func(r *event.Record) string { return lineOf(*r) })
}

// lineOf is a record on one line of safe text.
func lineOf(r event.Record) string {
	row := stream.Row(r, stream.TypePick{}, &stream.Plan{})
	return strings.Join([]string{r.ReceivedAt.Local().Format("2006-01-02 15:04:05.000"), row.Server.Plain(), row.Type.Plain(), row.Text.Plain()}, "  ")
}

// copyCommand copies the command line that prints the same events.
func (a *app) copyCommand() tea.Cmd {
	return a.copyEach("the command", "no subscription", func(r *event.Record) string {
		words := []string{"eventdeck", "tail", quoteArg(r.Server), quoteArg(r.Type.Raw())}
		if v := a.sub(r.Sub); v != nil {
			words = append(words, "--mode", string(v.Mode))
			if !evidence.NoArgs(v.Key.Args) {
				words = append(words, "--args", quoteArg(string(trust.CompactJSON(v.ShownArgs()))))
			}
		}
		return cells.Sanitize(strings.Join(words, " ")).Plain()
	})
}

// copyRaw copies the bytes as they came. The terminal gets them in base64; what
// they do where they are pasted is up to that place.
func (a *app) copyRaw() tea.Cmd {
	r, _ := a.detail.Payload()
	return a.Copy("the RAW bytes: they may act where they are pasted", string(detail.PayloadOf(&r)))
}

// copyEach copies a text of the chosen record, or of each one in the range, a
// line each; none says that there is no such text.
func (a *app) copyEach(what, none string, text func(*event.Record) string) tea.Cmd {
	var b strings.Builder
	n, last := 0, ""
	err := a.selectedRecords(func(r event.Record) bool {
		if t := text(&r); t != "" && t != last {
			if n > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(t)
			n, last = n+1, t
		}
		return b.Len() <= copyMax
	})
	switch {
	case err != nil:
		a.Fail("cannot read the log", err)
		return nil
	case n == 0:
		a.Tell("not copied: there is " + none + " here")
		return nil
	case n > 1:
		what = fmt.Sprintf("%s of %s", what, cells.Count(n, "record"))
	}
	return a.Copy(what, b.String())
}

// Copy hands text to the terminal (OSC 52) and to the system's own clipboard.
// Whether the terminal took it cannot be known.
func (a *app) Copy(what, text string) tea.Cmd {
	if len(text) > copyMax {
		a.Fail("not copied", fmt.Errorf("%w: a terminal takes %d KiB; %s writes it to a file", errTooMuch, copyMax>>10, a.KeyOf("export")))
		return nil
	}
	a.Tell(fmt.Sprintf("copied %s (%s)", what, cells.Count(len(text), "byte")))
	if native := a.programs.Copy(text); native != nil {
		return tea.Batch(tea.SetClipboard(text), native)
	}
	return tea.SetClipboard(text)
}
