package cells

import (
	"time"

	"charm.land/bubbles/v2/progress"
	"charm.land/lipgloss/v2"
)

// TurnEvery is the time between two frames of the spinner.
const TurnEvery = 125 * time.Millisecond

// Turning returns the current frame of the spinner.
func (e *Env) Turning() string {
	frames := e.Glyphs.Turning.Frames
	return frames[e.Now().UnixMilli()/TurnEvery.Milliseconds()%int64(len(frames))]
}

// barWidth is the width of a bar with its percentage, in cells.
const barWidth = 20

// Bar returns a progress bar with its percentage, without colours; "" while total is 0.
func (e *Env) Bar(done, total uint64) string {
	if total == 0 {
		return ""
	}
	bar := progress.New(progress.WithWidth(barWidth), progress.WithFillCharacters(e.Glyphs.Done, e.Glyphs.Left), progress.WithColors(lipgloss.NoColor{}))
	bar.EmptyColor = lipgloss.NoColor{}
	return bar.ViewAs(float64(min(done, total)) / float64(total))
}
