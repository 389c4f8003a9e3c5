package cells

import (
	"time"

	"charm.land/bubbles/v2/progress"
	"charm.land/lipgloss/v2"
)

// TurnEvery is how often the sign of work that goes on turns.
const TurnEvery = 125 * time.Millisecond

// Turning is the sign of work that goes on, as it stands now.
func (e *Env) Turning() string {
	frames := e.Glyphs.Turning.Frames
	return frames[e.Now().UnixMilli()/TurnEvery.Milliseconds()%int64(len(frames))]
}

// barWidth is how wide a bar with its percentage is, in cells.
const barWidth = 20

// Bar shows how much of work is done: done of total, with its percentage. It is safe text
// without colours, which its role has; "" while total is not known.
func (e *Env) Bar(done, total uint64) string {
	if total == 0 {
		return ""
	}
	bar := progress.New(progress.WithWidth(barWidth), progress.WithFillCharacters(e.Glyphs.Done, e.Glyphs.Left), progress.WithColors(lipgloss.NoColor{}))
	bar.EmptyColor = lipgloss.NoColor{}
	return bar.ViewAs(float64(min(done, total)) / float64(total))
}
