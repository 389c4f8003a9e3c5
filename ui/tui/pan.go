package tui

import (
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
)

// panned returns a line without its first cells: an ellipsis stands for them.
// Tokens are kept whole.
func panned(line trust.Rendered, cells int) trust.Rendered {
	if cells <= 0 || line.Width == 0 {
		return line
	}
	out := trust.Rendered{Segments: []trust.Segment{{Text: "…", Mark: true}}, Width: 1}
	left := cells + 1
	for _, s := range line.Segments {
		w := ansi.StringWidth(s.Text)
		if left >= w && left > 0 {
			left -= w
			continue
		}
		if left > 0 && !s.Mark {
			for left > 0 && s.Text != "" {
				n, cw := cluster(s.Text)
				s.Text, left, w = s.Text[n:], left-cw, w-cw
			}
		}
		left = 0
		out.Segments = append(out.Segments, s)
		out.Width += w
	}
	return out
}

// panStep is how far the stream pans, in cells.
const panStep = 8

// panBy moves the texts of the stream sideways.
func (a *app) panBy(n int) { a.stream.pan = max(0, min(a.stream.pan+n, 4096)) }
