package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/feed"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// What leads through all that is stored: the search that hides nothing, gaps and
// changes of state, the oldest row of a filter. What is not at hand is looked for
// beside the program, and the way back is told.

// hunt is the search for the next record of a kind.
type hunt struct {
	find   feed.Find
	what   string // is looked for, for the operator
	token  int    // answers to earlier searches are stale
	gen    int    // of the rows among which it looks
	on     bool
	sought uint64 // a record that the stream was led to; 0: none
}

// foundMsg: a part of a search is over.
type foundMsg struct {
	feed.Found
	token int
}

// openSearch asks what to look for.
func (a *app) openSearch() {
	before := a.search
	a.AskLine(&widget.Prompt{
		Label: "search:", Says: "highlights, and hides nothing   enter keep  up earlier  esc undo", Past: a.memo.Searches,
		Change: func(text string) { a.search = strings.ToLower(text) },
		Gone:   func() { a.search = before },
		Done: func(text string) tea.Cmd {
			a.search = strings.ToLower(text)
			a.memo.Searches = widget.Remember(a.memo.Searches, text)
			if text == "" || a.holdsFound(a.stream.At) {
				return nil
			}
			return a.nextFound(-1)
		},
	}, before)
}

// holdsFound tells whether a record that is held has what is searched.
func (a *app) holdsFound(seq uint64) bool {
	r, ok := a.stream.Record(seq)
	return ok && holdsText(&r, a.search)
}

// holdsText looks into what rows and details show of a record.
func holdsText(r *event.Record, text string) bool {
	for _, s := range []string{r.Server, r.Type.Raw(), r.EventID.Raw(), r.Reason.Raw()} {
		if cells.HasText(s, text) {
			return true
		}
	}
	if r.Kind == event.KindGap && r.Gap != nil && cells.HasText(evidence.GapWords(*r.Gap, cells.TimeLocal), text) {
		return true
	}
	if r.Kind == event.KindState && r.State != nil && cells.HasText(evidence.StateWords(*r).Plain(), text) {
		return true
	}
	return cells.HasText(string(detail.PayloadOf(r)), text)
}

// next leads to the next match of a search; in the detail without one, to the
// next place noticed.
func (a *app) next(step int) tea.Cmd {
	if a.search == "" {
		if a.panes.Focus == layout.Detail && a.onPayload() {
			a.detail.ToSpan(step)
			return nil
		}
		a.Tell("nothing is searched; " + a.KeyOf("search") + " begins")
		return nil
	}
	return a.nextFound(step)
}

// nextFound goes to the next record that is shown and holds what is searched.
func (a *app) nextFound(step int) tea.Cmd {
	text := a.search
	return a.lookFor("matches", step, func(r *event.Record) bool { return holdsText(r, text) })
}

// toMarker goes to the next record that is no event: a gap, a change of state, a
// refusal.
func (a *app) toMarker(step int) tea.Cmd {
	return a.lookFor("markers", step, func(r *event.Record) bool { return r.Kind != event.KindEvent })
}

// toOldest goes to the oldest row of all that is stored.
func (a *app) toOldest() tea.Cmd {
	q := a.stream.Query
	if q.Everything() || a.stream.Oldest {
		a.stream.ToOldest()
		return nil
	}
	return a.look("rows", feed.Find{Query: q})
}

// lookFor looks for the next record that matches, from the chosen one on.
func (a *app) lookFor(what string, step int, match func(*event.Record) bool) tea.Cmd {
	if a.stream.At == 0 {
		return nil
	}
	from := a.stream.At
	if !a.stream.Turned { // where it will stand, once that is read
		from = a.stream.Anchor()
	}
	return a.look(what, feed.Find{Query: a.stream.Query, Match: match, From: from, Back: step < 0})
}

func (a *app) look(what string, f feed.Find) tea.Cmd {
	a.hunt = hunt{find: f, what: what, token: a.hunt.token + 1, gen: a.stream.Gen, on: true, sought: a.hunt.sought}
	return a.lookOn()
}

// lookOn looks through the next part.
func (a *app) lookOn() tea.Cmd {
	f, token, log := a.hunt.find, a.hunt.token, a.api.Log()
	return a.Do(func(ctx context.Context) tea.Msg { return foundMsg{f.Part(ctx, log), token} })
}

// stopHunt ends the search that runs.
func (a *app) stopHunt() {
	a.hunt.token++
	a.hunt.on = false
	a.Tell("stopped looking for " + a.hunt.what)
}

// found takes what a part of a search came to.
func (a *app) found(msg foundMsg) tea.Cmd {
	h := &a.hunt
	if msg.token != h.token || h.gen != a.stream.Gen {
		return nil
	}
	way := "on"
	if h.find.Back {
		way = "back"
	}
	switch {
	case msg.Err != nil:
		h.on = false
		a.Fail("cannot read the log", msg.Err)
	case msg.Seq != 0:
		h.on = false
		a.note = note{}
		a.stream.Seek(msg.Seq)
	case msg.End:
		h.on = false
		a.Tell("no more " + h.what + " that way")
	default:
		h.find.From = msg.Edge
		text := "no " + h.what + " yet; looking further " + way
		if !msg.At.IsZero() {
			text += ", at " + a.Moment(msg.At)
		}
		a.Tell(text + " " + a.Glyphs.More + "  " + a.KeyOf("back") + " stops")
		return a.lookOn()
	}
	return nil
}
