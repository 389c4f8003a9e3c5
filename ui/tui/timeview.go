package tui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
)

// timeView is a way to show when a record was received.
type timeView uint8

const (
	timeLocal    timeView = iota
	timeUTC               // with a Z behind it
	timeRelative          // how long ago
	timeDelta             // since the row before
	timeViews
)

var timeViewNames = [timeViews]string{"local", "utc", "relative", "delta"}

var timeViewTitles = [timeViews]string{"times are local", "times are in UTC", "times are relative to now", "times are since the row before"}

// zone is where the shown times are told.
func (v timeView) zone() *time.Location {
	if v == timeUTC {
		return time.UTC
	}
	return time.Local
}

// timeText spells a moment in a zone; UTC has a Z behind it.
func timeText(t time.Time, zone *time.Location, layout string) string {
	if zone == time.UTC {
		layout += "Z"
	}
	return t.In(zone).Format(layout)
}

// Layouts of moments in tables and details.
const (
	stampDay  = "01-02 15:04:05"
	stampTime = "15:04:05.000"
	stampFull = "2006-01-02 15:04:05.000"
)

// when spells a moment of a table's row; before is that of the row above, zero
// if there is none.
func (a *app) when(t, before time.Time, layout string) string {
	switch v := a.stream.clock; {
	case v == timeRelative:
		return ago(a.clock(), t)
	case v == timeDelta && before.IsZero():
		return ""
	case v == timeDelta:
		return delta(t.Sub(before))
	default:
		return timeText(t, v.zone(), layout)
	}
}

// nextTimes goes on to the next way to show times.
func (a *app) nextTimes() tea.Cmd {
	a.showTimes((a.stream.clock + 1) % timeViews)
	a.tell(timeViewTitles[a.stream.clock])
	return nil
}

// showTimes has times shown in a way everywhere.
func (a *app) showTimes(v timeView) {
	a.stream.clock = v
	clear(a.stream.formed)
	a.looks++
}

// width is the room that times have when there is room for width cells.
func (v timeView) width(long bool) int {
	n := len(timeShort)
	if long {
		n = len(timeLong)
	}
	return n
}

// text spells a time in exactly width cells. before is when the row before was
// received, zero if there is none.
func (v timeView) text(at, now, before time.Time, width int) string {
	s := ""
	switch v {
	case timeUTC:
		at = at.UTC()
		if width >= len(timeLong) {
			s = at.Format(timeShort) + " Z"
		} else {
			s = at.Format("15:04") + "Z"
		}
	case timeRelative:
		s = span(now.Sub(at))
	case timeDelta:
		if !before.IsZero() {
			s = delta(at.Sub(before))
		}
	default:
		s = at.Local().Format(timeShort)
		if width >= len(timeLong) {
			s = at.Local().Format(timeLong)
		}
		return s
	}
	if len(s) > width {
		s = s[:width]
	}
	for len(s) < width {
		s = " " + s
	}
	return s
}

// delta spells the time between two rows.
func delta(d time.Duration) string {
	sign := "+"
	if d < 0 {
		sign, d = "-", -d
	}
	switch {
	case d < time.Second:
		return sign + strconv.Itoa(int(d/time.Millisecond)) + "ms"
	case d < time.Minute:
		return sign + strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + "s"
	}
	return sign + span(d)
}
