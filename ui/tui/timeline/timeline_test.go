package timeline

import (
	"context"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// stretched is a log of an hour: one record a minute, and a hundred more in the
// minute 30.
type stretched struct{}

func (stretched) times() (out []time.Time) {
	start := time.Date(2026, 3, 14, 14, 0, 0, 0, time.UTC)
	for m := range 60 {
		out = append(out, start.Add(time.Duration(m)*time.Minute))
		for i := 0; m == 30 && i < 100; i++ {
			out = append(out, start.Add(30*time.Minute+time.Duration(i+1)*100*time.Millisecond))
		}
	}
	return out
}

func (l stretched) Last() uint64 { return uint64(len(l.times())) }
func (l stretched) After(_ uint64, fn func(event.Record) bool) error {
	fn(event.Record{Seq: 1, ReceivedAt: l.times()[0]})
	return nil
}
func (l stretched) Before(_ uint64, fn func(event.Record) bool) error {
	fn(event.Record{Seq: l.Last(), ReceivedAt: l.times()[l.Last()-1]})
	return nil
}
func (l stretched) Histogram(_ context.Context, from, to time.Time, n int) ([]uint64, error) {
	counts := make([]uint64, n)
	for _, at := range l.times() {
		if !at.Before(from) && at.Before(to) {
			counts[int(float64(at.Sub(from))/float64(to.Sub(from))*float64(n))]++
		}
	}
	return counts, nil
}
func (l stretched) SeqAt(t time.Time) (uint64, error) {
	for i, at := range l.times() {
		if !at.Before(t) {
			return uint64(i) + 1, nil
		}
	}
	return l.Last() + 1, nil
}

// shown is a screen of 120 by 40 cells.
type shown struct {
	dialog widget.Dialog
	jumped uint64
}

func (s *shown) Show(d widget.Dialog) {
	if s.dialog = d; d != nil {
		d.Size(120, 40)
	}
}
func (s *shown) Shown() widget.Dialog    { return s.dialog }
func (s *shown) Tell(string)             {}
func (s *shown) Fail(string, error)      {}
func (s *shown) Jump(seq uint64) tea.Cmd { s.jumped = seq; return nil }
func (s *shown) Do(fn func(context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg { return fn(context.Background()) }
}

// run runs a command and what follows from it.
func run(cmd tea.Cmd) {
	for cmd != nil {
		cmd = cmd().(widget.Then)()
	}
}

func TestTimelineZooms(t *testing.T) {
	s := &shown{}
	run(Open(&cells.Env{}, s, stretched{}))
	d := s.dialog.(*timeline)
	press := func(keys ...string) {
		for _, k := range keys {
			run(d.Key(tea.KeyPressMsg{Code: rune(k[0]), Text: k}))
		}
	}
	sum := uint64(0)
	for _, n := range d.counts {
		sum += n
	}
	if sum != 160 {
		t.Errorf("%d of 160 records are drawn", sum)
	}
	press("g")
	all := d.to.Sub(d.from)
	for d.counts[d.at] < 50 {
		press("l")
	}
	was := d.begins(d.at)
	press("+", "+")
	if span := d.to.Sub(d.from); span > all/15 || d.from.After(was) || d.to.Before(was) {
		t.Errorf("zoomed to %v from %v, which loses %v", span, d.from, was)
	}
	for range 20 {
		press("+")
	}
	for range 20 {
		press("-")
	}
	if d.to.Sub(d.from) != all {
		t.Errorf("zoomed out to %v, all is %v", d.to.Sub(d.from), all)
	}
	press("+", "0")
	if d.to.Sub(d.from) != all {
		t.Error("0 does not show all")
	}
	press("g")
	if run(d.Click(1, 0)); s.jumped != 1 || s.dialog != nil {
		t.Errorf("a click on what is chosen leads to %d", s.jumped)
	}
}
