package stream

import (
	"slices"
	"sort"
	"time"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
)

// Marks are the operator's marks as they were read last, in the order of their records: bookmarks on
// records, and lines after records that say "now". They belong to records, so no filter moves them.
type Marks struct {
	all     []event.Mark
	records map[uint64]event.Record
	Gen     int // grows with every change
}

// Record returns the record of a mark, if it was read.
func (m *Marks) Record(seq uint64) (event.Record, bool) {
	r, ok := m.records[seq]
	return r, ok
}

// Load replaces the marks and the records of marks.
func (m *Marks) Load(all []event.Mark, records map[uint64]event.Record) {
	m.records = records
	if !slices.Equal(all, m.all) {
		m.all = all
		m.Gen++
	}
}

// Find returns the mark on a record.
func (m *Marks) Find(seq uint64) (event.Mark, bool) {
	for i := m.from(seq); i < len(m.all) && m.all[i].Seq == seq; i++ {
		if !m.all[i].Line {
			return m.all[i], true
		}
	}
	return event.Mark{}, false
}

// from returns the index of the first mark at or after a record.
func (m *Marks) from(seq uint64) int {
	return sort.Search(len(m.all), func(i int) bool { return m.all[i].Seq >= seq })
}

// lines returns the lines after the records from one up to, but not including, another.
func (m *Marks) lines(from, to uint64) []event.Mark {
	var out []event.Mark
	for i := m.from(from); i < len(m.all) && m.all[i].Seq < to; i++ {
		if m.all[i].Line {
			out = append(out, m.all[i])
		}
	}
	return out
}

// Note returns the note of the mark on a record, "" for none.
func (m *Marks) Note(seq uint64) string {
	mark, _ := m.Find(seq)
	return mark.Note
}

// List returns all marks, the newest record first.
func (m *Marks) List() []event.Mark {
	out := slices.Clone(m.all)
	slices.Reverse(out)
	return out
}

// lineWords returns the text of a line.
func lineWords(m event.Mark, clock cells.TimeView) string {
	text := " " + cells.TimeText(m.At, clock.Zone(), time.DateTime) + " "
	if m.Note != "" {
		text += cells.Sanitize(m.Note).Plain() + " "
	}
	return text
}
