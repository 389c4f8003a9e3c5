package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// search is what is looked for without hiding anything. Matches are highlighted
// in rows and in the detail; n and N lead from record to record.
type search struct {
	text  string // in lower case, "" for none
	token int    // answers to earlier walks are stale
	busy  bool
}

// foundMsg: a walk through the log is over.
type foundMsg struct {
	token int
	seq   uint64 // 0: nothing that way
	err   error
}

// openSearch asks what to look for.
func (a *app) openSearch() {
	before := a.search.text
	a.askLine(&widget.Prompt{
		Label: "search:", Says: "highlights, and hides nothing   enter keep  up earlier  esc undo", Past: a.memo.Searches,
		Change: func(text string) { a.search.text = strings.ToLower(text) },
		Gone:   func() { a.search.text = before },
		Done: func(text string) tea.Cmd {
			a.search.text = strings.ToLower(text)
			a.memo.Searches = widget.Remember(a.memo.Searches, text)
			if text == "" || a.holdsFound(a.stream.At) {
				return nil
			}
			return a.nextFound(-1)
		},
	}, before)
}

// holdsFound tells whether a record holds what is searched.
func (a *app) holdsFound(seq uint64) bool {
	r, ok := a.eventAt(seq)
	return ok && holdsText(&r, a.search.text)
}

// holdsText looks into what rows and details show of a record.
func holdsText(r *event.Record, text string) bool {
	for _, s := range []string{r.Server, r.Type.Raw(), r.EventID.Raw(), r.Reason.Raw()} {
		if strings.Contains(strings.ToLower(s), text) {
			return true
		}
	}
	if r.Kind == event.KindGap && r.Gap != nil && strings.Contains(strings.ToLower(evidence.GapWords(*r.Gap, cells.TimeLocal)), text) {
		return true
	}
	if r.Kind == event.KindState && r.State != nil && strings.Contains(strings.ToLower(evidence.StateWords(*r).Plain()), text) {
		return true
	}
	return strings.Contains(strings.ToLower(string(detail.PayloadOf(r))), text)
}

// next leads to the next match of a search; in the detail without one, to the
// next place noticed.
func (a *app) next(step int) tea.Cmd {
	if a.search.text == "" {
		if a.focus == layout.Detail && a.onPayload() {
			a.detail.ToSpan(step)
			return nil
		}
		a.Tell("nothing is searched; " + a.KeyOf("search") + " begins")
		return nil
	}
	return a.nextFound(step)
}

// nextFound has the log looked through for the next record that is shown and
// holds the text.
func (a *app) nextFound(step int) tea.Cmd {
	if a.stream.At == 0 {
		return nil
	}
	a.search.token++
	a.search.busy = true
	token, text, from, q, log := a.search.token, a.search.text, a.stream.At, a.stream.Query, a.api.Log()
	return a.Do(func(ctx context.Context) tea.Msg {
		msg := foundMsg{token: token}
		look := func(r event.Record) bool {
			if q.Matches(&r) && holdsText(&r, text) {
				msg.seq = r.Seq
			}
			return msg.seq == 0 && ctx.Err() == nil
		}
		if step > 0 {
			msg.err = log.After(from, look)
		} else {
			msg.err = log.Before(from, look)
		}
		return msg
	})
}

func (a *app) found(msg foundMsg) {
	if msg.token != a.search.token {
		return
	}
	a.search.busy = false
	switch {
	case msg.err != nil:
		a.Fail("cannot read the log", msg.err)
	case msg.seq == 0:
		a.Tell("no more matches that way")
	default:
		if err := a.stream.Seek(a.api.Log(), msg.seq); err != nil {
			a.Fail("cannot read the log", err)
		}
	}
}
