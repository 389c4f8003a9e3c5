package cells

import "time"

// TimeView is a way to show when a record was received.
type TimeView uint8

// The ways to show times.
const (
	TimeLocal    TimeView = iota
	TimeUTC               // with a Z behind it
	TimeRelative          // how long ago
	TimeDelta             // since the row before
	TimeViews
)

// TimeViewNames are what the views are called in commands.
var TimeViewNames = [TimeViews]string{"local", "utc", "relative", "delta"}

// TimeViewTitles say what a view shows.
var TimeViewTitles = [TimeViews]string{"times are local", "times are in UTC", "times are relative to now", "times are since the row before"}

// Zone is where the shown times are told.
func (v TimeView) Zone() *time.Location {
	if v == TimeUTC {
		return time.UTC
	}
	return time.Local
}

// TimeText spells a moment in a zone; UTC has a Z behind it.
func TimeText(t time.Time, zone *time.Location, layout string) string {
	if zone == time.UTC {
		layout += "Z"
	}
	return t.In(zone).Format(layout)
}

// At is the time of day of a moment, in the zone of now.
func At(now, t time.Time) string { return TimeText(t, now.Location(), TimeShort) }

// Layouts of moments in tables and details.
const (
	StampDay  = "01-02 15:04:05"
	StampTime = "15:04:05.000"
	StampFull = "2006-01-02 15:04:05.000"
)

// Width is the room that times have when there is room for width cells.
func (v TimeView) Width(long bool) int {
	n := len(TimeShort)
	if long {
		n = len(TimeLong)
	}
	return n
}

// Text spells a time in exactly width cells. before is when the row before was
// received, zero if there is none.
func (v TimeView) Text(at, now, before time.Time, width int) string {
	s := ""
	switch v {
	case TimeUTC:
		at = at.UTC()
		if width >= len(TimeLong) {
			s = at.Format(TimeShort) + " Z"
		} else {
			s = at.Format("15:04") + "Z"
		}
	case TimeRelative:
		s = Span(now.Sub(at))
	case TimeDelta:
		if !before.IsZero() {
			s = delta(at.Sub(before))
		}
	default:
		s = at.Local().Format(TimeShort)
		if width >= len(TimeLong) {
			s = at.Local().Format(TimeLong)
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

// Layouts of the times of rows of the stream.
const (
	TimeLong  = "15:04:05.0"
	TimeShort = "15:04:05"
)

// Moment is the shortest text for a moment.
func (e *Env) Moment(t time.Time) string {
	layout := "15:04"
	if d := e.Clock().Sub(t); d > 20*time.Hour || d < -time.Hour {
		layout = "Jan 2 15:04"
	}
	return TimeText(t, e.Times.Zone(), layout)
}
