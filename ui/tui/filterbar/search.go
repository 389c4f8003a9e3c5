// Goes to the next record of the log with a text, to the next gap or change of state,
// or to the oldest row of a filter. It hides no rows, searches in the background and shows its
// progress.

package filterbar

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// Search has the searched text, and the search for the next record.
type Search struct {
	Text    string // in lower case; "" for none
	env     *Env
	find    query.Find
	what    string // the kind of records, for messages
	token   int    // identifies the search: answers to earlier ones are stale
	start   uint64 // the record where the search began; 0: the newest
	gen     int    // the generation of the stream's rows when it began
	running bool
	target  uint64 // the record of the last [Search.Goto] until its rows are read; 0: none
}

// NewSearch returns a search without a text.
func NewSearch(env *Env) Search { return Search{env: env} }

// Open asks for the text to search.
func (s *Search) Open() {
	before := s.Text
	s.env.AskLine(&widget.Prompt{
		Label: "search:", Says: "highlights, and hides nothing   enter keep  up earlier  esc undo", Past: s.env.Persist.Searches,
		Change:    func(text string) { s.Text = strings.ToLower(text) },
		Cancelled: func() { s.Text = before },
		Done: func(text string) tea.Cmd {
			s.Text = strings.ToLower(text)
			s.env.Persist.Searches = widget.Remember(s.env.Persist.Searches, text)
			if r, held := s.env.Stream.Record(s.env.Stream.At); text == "" || held && Holds(&r, s.Text, s.env.Times) {
				return nil
			}
			return s.Next(-1)
		},
	}, before)
}

// Holds reports whether the row or the detail of a record has a text, which is in lower case.
// times says how they show times.
func Holds(r *event.Record, text string, times cells.TimeView) bool {
	for _, s := range []string{r.Server, r.Type.Raw(), r.Name().Raw(), r.EventID.Raw(), r.Reason.Raw()} {
		if cells.HasText(s, text) {
			return true
		}
	}
	if r.Kind == event.KindGap && r.Gap != nil && cells.HasText(evidence.GapWords(*r.Gap, times), text) {
		return true
	}
	if r.Kind == event.KindState && r.State != nil && cells.HasText(evidence.StateWords(*r).Plain(), text) {
		return true
	}
	return cells.HasText(string(detail.PayloadOf(r)), text)
}

// Next goes to the next shown record with the searched text, or for step -1 to the previous one.
func (s *Search) Next(step int) tea.Cmd {
	text, times := s.Text, s.env.Times
	return s.from("matches", step, func(r *event.Record) bool { return Holds(r, text, times) })
}

// Marker goes to the next record that is not an event, or for step -1 to the previous one.
func (s *Search) Marker(step int) tea.Cmd {
	return s.from("markers", step, func(r *event.Record) bool { return r.Kind != event.KindEvent })
}

// Oldest goes to the oldest row of the whole log.
func (s *Search) Oldest() tea.Cmd {
	q := s.env.Stream.Query
	if q.Everything() || s.env.Stream.Oldest {
		s.env.Stream.ToOldest()
		return nil
	}
	return s.begin("rows", query.Find{Query: q})
}

// from searches the next matching record, starting at the chosen one.
func (s *Search) from(what string, step int, match func(*event.Record) bool) tea.Cmd {
	at := s.env.Stream.At
	if at == 0 {
		return nil
	}
	if !s.env.Stream.Loaded { // the record that will be chosen
		at = s.env.Stream.Anchor()
	}
	if step > 0 {
		at = s.env.Stream.LastOf(at)
	}
	hidden := s.env.Stream.Hidden()
	shown := func(r *event.Record) bool { return match(r) && !hidden[r.Seq] }
	return s.begin(what, query.Find{Query: s.env.Stream.Query, Match: shown, From: at, Back: step < 0})
}

func (s *Search) begin(what string, f query.Find) tea.Cmd {
	s.find, s.start, s.what, s.gen, s.running = f, f.From, what, s.env.Stream.Gen, true
	s.token++
	return s.searchPart()
}

// searchPart searches the next part of the log.
func (s *Search) searchPart() tea.Cmd {
	f, token, log := s.find, s.token, s.env.Log()
	return s.env.Do(func(ctx context.Context) tea.Msg {
		found := f.Part(ctx, log)
		return widget.Then(func() tea.Cmd {
			if token != s.token || s.gen != s.env.Stream.Gen {
				return nil
			}
			return s.take(found)
		})
	})
}

// Running reports whether a search is running.
func (s *Search) Running() bool { return s.running }

// Drop ends the running search without a message.
func (s *Search) Drop() { s.token, s.running = s.token+1, false }

// Stop ends the running search and says so.
func (s *Search) Stop() {
	s.Drop()
	s.env.Tell("stopped looking for " + s.what)
}

// take handles the result of a part.
func (s *Search) take(f query.Found) tea.Cmd {
	way := "on"
	if s.find.Back {
		way = "back"
	}
	switch {
	case f.Err != nil:
		s.running = false
		s.env.Fail("cannot read the log", f.Err)
	case f.Seq != 0:
		s.running = false
		s.env.Hush()
		s.env.Stream.Seek(f.Seq)
	case f.End:
		s.running = false
		s.env.Tell("no more " + s.what + " that way")
	default:
		s.find.From = f.Edge
		text := "no " + s.what + " yet; looking further " + way
		if bar := s.env.Bar(s.progress(f)); bar != "" {
			text = bar + "  " + text
		}
		if !f.At.IsZero() {
			text += ", at " + s.env.Moment(f.At)
		}
		s.env.Tell(text + " " + s.env.Glyphs.More + "  " + s.env.KeyOf("back") + " stops")
		return s.searchPart()
	}
	return nil
}

// progress returns how many records were searched, and of how many: back to the oldest stored
// record, or on to the newest.
func (s *Search) progress(f query.Found) (done, total uint64) {
	oldest, newest := max(1, f.Oldest), s.env.Stream.Seen
	if s.find.Back {
		start := s.start
		if start == 0 {
			start = newest + 1
		}
		return start - min(f.Edge, start), start - min(oldest, start)
	}
	start := max(s.start, oldest-1)
	return f.Edge - min(start, f.Edge), newest - min(start, newest)
}

// Goto shows a record, or the nearest one before it that the stream shows.
func (s *Search) Goto(seq uint64) {
	s.target = seq
	s.env.Stream.Seek(seq)
	s.Landed()
}

// Landed is called when the stream has read rows. It says if the record of the last [Search.Goto] is
// not shown.
func (s *Search) Landed() {
	if s.target == 0 || !s.env.Stream.Loaded {
		return
	}
	if !s.env.Stream.Shows(s.target) {
		s.env.Tell("the record itself is not shown: the filter or the scope hides it")
	}
	s.target = 0
}
