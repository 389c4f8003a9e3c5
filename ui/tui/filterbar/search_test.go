package filterbar_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

// searchFixture is a screen with a stream on a log of ten records, of which record 3 is a gap. part
// replaces the result of one part of a search.
type searchFixture struct {
	tuitest.Screen
	filterbar.Search
	stream  stream.Stream
	persist persist.Saver
	part    func() (eventlog.Found, error)
	pruned  uint64 // records up to this one were removed
}

func (d *searchFixture) Hush()        { d.Told = "" }
func (d *searchFixture) Last() uint64 { return 10 }
func (d *searchFixture) Get(seq uint64) (event.Record, error) {
	if seq <= d.pruned || seq > 10 {
		return event.Record{}, event.ErrNotFound
	}
	r := event.Record{Seq: seq, Kind: event.KindEvent, Server: "pager", ReceivedAt: tuitest.Start, Data: json.RawMessage(fmt.Sprintf(`{"title":"Needle %d"}`, seq))}
	if seq == 3 {
		r.Kind, r.Gap = event.KindGap, &event.Gap{}
	}
	return r, nil
}

func (d *searchFixture) After(seq uint64, fn func(event.Record) bool) error {
	for r, err := d.Get(max(seq, d.pruned) + 1); err == nil && fn(r); r, err = d.Get(r.Seq + 1) {
	}
	return nil
}

func (d *searchFixture) Before(seq uint64, fn func(event.Record) bool) error {
	for r, err := d.Get(min(seq, 11) - 1); err == nil && fn(r); r, err = d.Get(r.Seq - 1) {
	}
	return nil
}

func (d *searchFixture) find(_ context.Context, match func(*event.Record) bool, before uint64, page func(eventlog.Found) bool) error {
	if d.part != nil {
		f, err := d.part()
		page(f)
		return err
	}
	f := eventlog.Found{End: true}
	err := d.Before(before, func(r event.Record) bool {
		if match(&r) {
			f.Seqs, f.End = []uint64{r.Seq}, false
		}
		return len(f.Seqs) == 0
	})
	page(f)
	return err
}

func searchNewFixture(t *testing.T) *searchFixture {
	d := &searchFixture{}
	env := tuitest.Env()
	d.persist = persist.New(persist.Settings{Screen: &d.Screen}, time.Now)
	d.stream = stream.New(tuitest.StreamEnv(env, &host.Snapshot{Last: 10}))
	d.Search = filterbar.NewSearch(&filterbar.Env{Env: env, Screen: d, Stream: &d.stream, Persist: &d.persist, Log: func() eventlog.Records { return searched{d: d} }})
	d.stream.Follow = true
	d.stream.Show(query.Query{})
	d.fill(t)
	if d.stream.At != 10 {
		t.Fatalf("the stream stands at %d", d.stream.At)
	}
	return d
}

// searched is the log of a fixture, whose own method Search belongs to the package under test.
type searched struct {
	eventlog.Records
	d *searchFixture
}

func (l searched) Last() uint64                                       { return l.d.Last() }
func (l searched) Get(seq uint64) (event.Record, error)               { return l.d.Get(seq) }
func (l searched) After(seq uint64, fn func(event.Record) bool) error { return l.d.After(seq, fn) }
func (l searched) Before(seq uint64, fn func(event.Record) bool) error {
	return l.d.Before(seq, fn)
}
func (l searched) Search(ctx context.Context, match func(*event.Record) bool, before uint64, page func(eventlog.Found) bool) error {
	return l.d.find(ctx, match, before, page)
}

// fill answers the requests of the stream.
func (d *searchFixture) fill(t *testing.T) {
	for range 20 {
		r, wanted := d.stream.Next()
		if !wanted {
			return
		}
		d.stream.Take(query.Answer(t.Context(), searched{d: d}, r))
	}
}

func (d *searchFixture) run(t *testing.T, cmd tea.Cmd) {
	tuitest.Run(cmd)
	d.fill(t)
}

func TestSearchGoesToMatchesMarkersAndTheOldestRow(t *testing.T) {
	d := searchNewFixture(t)
	d.Open()
	d.Type("NEEDLE 7", "enter")
	d.fill(t)
	if d.Search.Text != "needle 7" || d.stream.At != 7 || d.persist.Searches[0] != "NEEDLE 7" {
		t.Errorf("searched is %q, at %d", d.Search.Text, d.stream.At)
	}
	d.Open()
	if d.Type("x", "esc"); d.Search.Text != "needle 7" {
		t.Errorf("esc leaves %q", d.Search.Text)
	}
	if d.run(t, d.Marker(-1)); d.stream.At != 3 {
		t.Errorf("the marker is at %d", d.stream.At)
	}
	if d.run(t, d.Marker(-1)); d.stream.At != 3 || d.Told != "no more markers that way" {
		t.Errorf("at %d, told %q", d.stream.At, d.Told)
	}
	if d.run(t, d.Next(1)); d.stream.At != 7 || d.Told != "" {
		t.Errorf("at %d, told %q", d.stream.At, d.Told)
	}
	if d.run(t, d.Oldest()); d.stream.At != 1 {
		t.Errorf("the oldest row is %d", d.stream.At)
	}
}

func TestLongSearchShowsItsProgress(t *testing.T) {
	d := searchNewFixture(t)
	var told string
	parts := 0
	d.part = func() (eventlog.Found, error) {
		if parts++; parts == 2 {
			told = d.Told
			return eventlog.Found{}, errors.New("the disk is gone")
		}
		return eventlog.Found{Edge: 5}, nil
	}
	cmd := d.Marker(-1)
	if !d.Running() {
		t.Fatal("nothing is looked for")
	}
	d.run(t, cmd)
	if !strings.Contains(told, "56%  no markers yet; looking further back, at 14:03") || !strings.HasSuffix(told, "<back> stops") {
		t.Errorf("told is %q", told)
	}
	if d.Failed == nil || d.Running() {
		t.Errorf("the failure is shown as %v", d.Failed)
	}
}

// Pruned records are not part of the progress.
func TestProgressBarReachesItsEnd(t *testing.T) {
	d := searchNewFixture(t)
	d.pruned = 4
	for edge, want := range map[uint64]string{9: " 20%", 6: " 80%", 5: "100%"} {
		told := ""
		d.part = func() (eventlog.Found, error) {
			if told == "" {
				told = "-"
				return eventlog.Found{Edge: edge}, nil
			}
			told = d.Told
			return eventlog.Found{}, errors.New("the disk is gone")
		}
		d.run(t, d.Marker(-1))
		if !strings.Contains(told, want) {
			t.Errorf("at %d it tells %q, not%s", edge, told, want)
		}
	}
}

// The answer to a search that was stopped, or began with another filter, is dropped.
func TestAnswersToStoppedSearchesAreDropped(t *testing.T) {
	d := searchNewFixture(t)
	cmd := d.Marker(-1)
	d.Stop()
	if d.run(t, cmd); d.stream.At != 10 || d.Told != "stopped looking for markers" {
		t.Errorf("at %d, told %q", d.stream.At, d.Told)
	}
	cmd = d.Marker(-1)
	d.stream.Show(mustQuery(t, "needle"))
	d.fill(t)
	if d.run(t, cmd); d.stream.At != 10 {
		t.Errorf("of another filter it leads to %d", d.stream.At)
	}
}

// What is searched is compared with times as the rows show them.
func TestSearchFindsTimesInTheChosenZone(t *testing.T) {
	r := event.Record{Kind: event.KindGap, Gap: &event.Gap{From: tuitest.Start}}
	if !filterbar.Holds(&r, "14:03:05z", cells.TimeUTC) || filterbar.Holds(&r, "14:03:05z", cells.TimeLocal) {
		t.Error("the time of a gap is not that of its row")
	}
}

func TestGotoSaysIfTheRecordIsHidden(t *testing.T) {
	d := searchNewFixture(t)
	d.stream.Show(mustQuery(t, "kind:event"))
	d.fill(t)
	d.Goto(3)
	d.fill(t)
	if d.Landed(); !strings.Contains(d.Told, "hides it") || d.stream.At == 3 {
		t.Errorf("at %d, told %q", d.stream.At, d.Told)
	}
}

func mustQuery(t *testing.T, text string) query.Query {
	q, err := query.New(query.Node{}, text, tuitest.Start)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
