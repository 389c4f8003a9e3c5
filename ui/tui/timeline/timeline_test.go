package timeline

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/reading"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/widget"
)

// stretched is a log of an hour: one record a minute, and a hundred more in minute 30.
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

func (l stretched) Get(seq uint64) (event.Record, error) {
	return event.Record{Seq: seq, ReceivedAt: l.times()[seq-1]}, nil
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

func (l stretched) Search(_ context.Context, match func(*event.Record) bool, before uint64, page func(eventlog.Found) bool) error {
	for i, at := range l.times() {
		data := `{"severity":"info"}`
		if i%10 == 0 {
			data = `{"severity":"critical"}`
		}
		if seq := uint64(i) + 1; before == 0 || seq < before {
			match(&event.Record{Seq: seq, Kind: event.KindEvent, ReceivedAt: at, Data: []byte(data)})
		}
	}
	page(eventlog.Found{Edge: 1, End: true})
	return nil
}

// A key that is pressed before the buckets are counted leaves the cursor at the newest one.
func TestKeysBeforeTheCountAreIgnored(t *testing.T) {
	for _, key := range []string{"l", "h", "0", "a", "x"} {
		s := &tuitest.Screen{}
		cmd := Open(&cells.Env{}, s, stretched{}, Subset{Matches: func(*event.Record) bool { return true }})
		d := s.Dialog.(*timeline)
		if d.Key(tea.KeyPressMsg{Code: rune(key[0]), Text: key}) != nil {
			t.Errorf("%s reads the log before it is known when that begins", key)
		}
		if tuitest.Run(cmd); d.at != len(d.counts)-1 || d.everything {
			t.Errorf("after %s the cursor is at bucket %d of %d", key, d.at, len(d.counts))
		}
	}
}

func TestTimelineZooms(t *testing.T) {
	s := &tuitest.Screen{}
	tuitest.Run(Open(&cells.Env{}, s, stretched{}, Subset{}))
	d := s.Dialog.(*timeline)
	press := func(keys ...string) {
		for _, k := range keys {
			tuitest.Run(d.Key(tea.KeyPressMsg{Code: rune(k[0]), Text: k}))
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
	if tuitest.Run(d.Click(gutter, 0)); s.Record != 1 || s.Dialog != nil {
		t.Errorf("a click on what is chosen leads to %d", s.Record)
	}
}

// Bars show numbers on a logarithmic scale if one is much higher, a letter for the worst severity,
// and a text for the cursor.
func TestBarsShowNumbersAndSeverities(t *testing.T) {
	s := &tuitest.Screen{}
	tuitest.Run(Open(&cells.Env{Theme: themes.For(true, themes.NoColours), Glyphs: &cells.ASCIIGlyphs}, s, stretched{}, Subset{}))
	d := s.Dialog.(*timeline)
	var errors uint64
	for i, n := range d.counts {
		errors += d.grades.of(i, n).errors
	}
	if errors != 16 || !d.grades.done {
		t.Errorf("%d errors are counted, done %v", errors, d.grades.done)
	}
	d.Key(tea.KeyPressMsg{Code: 'g', Text: "g"})
	var c cells.Canvas
	c.Begin(&d.env.Theme, d.width)
	d.Draw(&c, 18)
	rows := c.Rows(18, nil)
	text := tuitest.Plain(rows)
	for _, want := range []string{"67|", "log|", "worst C", "14:00:00", "1 record, 1 critical"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there:\n%s", want, text)
		}
	}
	if n := strings.Count(strings.Split(text, "\n")[11], "#") + strings.Count(strings.Split(text, "\n")[11], "%"); n < 40 {
		t.Errorf("the usual buckets are %d of 60 in the lowest row:\n%s", n, text)
	}
}

// Only the matches of a query are drawn and reached by enter; a key shows all records.
func TestOnlyMatchesOfAQueryAreDrawn(t *testing.T) {
	s := &tuitest.Screen{}
	tuitest.Run(Open(tuitest.Env(), s, stretched{}, Subset{func(r *event.Record) bool { return reading.Rate(r) == reading.Critical }, "all servers /sev:critical"}))
	d := s.Dialog.(*timeline)
	sum := func(title string) (n uint64) {
		t.Helper()
		var c cells.Canvas
		c.Begin(&d.env.Theme, d.width)
		d.Draw(&c, 18)
		for _, in := range d.counts {
			n += in
		}
		if d.Title() != title {
			t.Errorf("the title is %q, want %q", d.Title(), title)
		}
		return n
	}
	if n := sum("Timeline of all servers /sev:critical"); n != 16 {
		t.Errorf("%d of 16 records are drawn", n)
	}
	press := func(key string) { tuitest.Run(d.Key(tea.KeyPressMsg{Code: rune(key[0]), Text: key})) }
	press("a")
	if n := sum("Timeline of everything, unfiltered"); n != 160 {
		t.Errorf("%d of 160 records are drawn", n)
	}
	press("a")
	press("g")
	press("l")
	tuitest.Run(d.jump())
	if s.Record != 11 || s.Dialog != nil {
		t.Errorf("it leads to %d, want 11", s.Record)
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		counts []uint64
		log    bool
	}{{nil, false}, {[]uint64{0, 5}, false}, {[]uint64{3, 4, 5, 60}, false}, {[]uint64{1, 1, 0, 1, 21}, true}} {
		if s := scaleOf(c.counts); s.log != c.log {
			t.Errorf("%v: %+v", c.counts, s)
		}
	}
	if s := scaleOf([]uint64{1, 1, 1, 1000}); s.units(0, 80) != 0 || s.units(1, 80) < 5 || s.units(1000, 80) != 80 {
		t.Errorf("%d, %d", s.units(1, 80), s.units(1000, 80))
	}
}

// nothing is a log without records.
type nothing struct{ stretched }

func (nothing) Get(uint64) (event.Record, error)             { return event.Record{}, event.ErrNotFound }
func (nothing) After(uint64, func(event.Record) bool) error  { return nil }
func (nothing) Before(uint64, func(event.Record) bool) error { return nil }

// The timeline is shown before the log is read, and closes if the log is empty. Answers after it was
// closed show nothing.
func TestTimelineIsShownAtOnce(t *testing.T) {
	s := &tuitest.Screen{}
	cmd := Open(tuitest.Env(), s, stretched{}, Subset{})
	if text := s.Text(80, 20); !strings.Contains(text, "counting") {
		t.Errorf("shown is:\n%s", text)
	}
	s.Press("esc")
	if then, ok := cmd().(widget.Then); !ok || then() != nil || s.Dialog != nil {
		t.Error("it comes back after it was left")
	}
	tuitest.Run(Open(tuitest.Env(), s, nothing{}, Subset{}))
	if s.Dialog != nil || s.Told != "nothing is stored yet" {
		t.Errorf("of nothing is told %q", s.Told)
	}
}
