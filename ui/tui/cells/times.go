package cells

import "time"

// TimeView is a way to show times.
type TimeView uint8

// The ways to show times.
const (
	TimeLocal    TimeView = iota
	TimeUTC               // followed by Z
	TimeRelative          // how long ago
	TimeDelta             // since the previous row
	TimeViews             // the number of views
)

// TimeViewNames are the names of the views in commands.
var TimeViewNames = [TimeViews]string{"local", "utc", "relative", "delta"}

// TimeViewTitles describe the views to the operator.
var TimeViewTitles = [TimeViews]string{"times are local", "times are in UTC", "times are relative to now", "times are since the row before"}

// Zone returns the time zone in which times are shown.
func (v TimeView) Zone() *time.Location {
	if v == TimeUTC {
		return time.UTC
	}
	return time.Local
}

// TimeText formats a time in a zone, in a layout of package time; UTC is followed by Z.
func TimeText(t time.Time, zone *time.Location, layout string) string {
	if zone == time.UTC {
		layout += "Z"
	}
	return t.In(zone).Format(layout)
}

// At formats the time of day of t, in the zone of now.
func At(now, t time.Time) string { return TimeText(t, now.Location(), TimeShort) }

// Layouts of times in tables and details.
const (
	StampDay  = "01-02 15:04:05"
	StampTime = "15:04:05.000"
	StampFull = "2006-01-02 15:04:05.000"
)

// Text formats a time in exactly width cells, which is the length of [TimeLong] or [TimeShort], or of
// [TimeDay] and one of them: then a time of another day has its date. before is the time of the
// previous row, zero if none exists.
func (v TimeView) Text(at, now, before time.Time, width int) string {
	s := ""
	if width >= len(TimeDay)+len(TimeShort) && (v == TimeLocal || v == TimeUTC) {
		if s = at.In(v.Zone()).Format(TimeDay); v.Day(at) == v.Day(now) {
			s = blanks[:len(TimeDay)]
		}
		return s + v.Text(at, now, before, width-len(TimeDay))
	}
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

// Day returns a number for the day of a time, in the zone in which times are shown.
func (v TimeView) Day(t time.Time) int {
	t = t.In(v.Zone())
	return t.Year()*366 + t.YearDay()
}

// Layouts of the times of rows of the stream.
const (
	TimeDay   = "01-02 "
	TimeLong  = "15:04:05.0"
	TimeShort = "15:04:05"
)

// Moment formats a time in minutes, with its day if that may not be today.
func (e *Env) Moment(t time.Time) string {
	layout := "15:04"
	if d := e.Clock().Sub(t); d > 20*time.Hour || d < -time.Hour {
		layout = "Jan 2 15:04"
	}
	return TimeText(t, e.Times.Zone(), layout)
}
