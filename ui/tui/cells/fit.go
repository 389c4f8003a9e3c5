package cells

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
	"eventdeck/themes"
)

// Fit appends a drawn row of width cells, in as many cells of a terminal that measures code points.
// There an emoji with a skin tone, a joined sequence of emoji, a letter with a spacing vowel sign or
// a decomposed syllable takes more or fewer cells than its cluster: the row is cut, with a mark, or
// padded, so that what is drawn right of it stays where it is.
func (e *Env) Fit(b []byte, row string, width int) []byte {
	if e.Clusters || !disputed(row) {
		return append(b, row...)
	}
	row = strings.TrimRight(strings.TrimSuffix(row, themes.Reset), " ")
	w := ansi.StringWidthWc(row)
	if w > width {
		row, w = cutCodePoints(row, width-1)
		b, w = append(append(b, row...), trust.CutMark...), w+1
	} else {
		b = append(b, row...)
	}
	for ; w < width; w++ {
		b = append(b, ' ')
	}
	return append(b, themes.Reset...)
}

// cutCodePoints returns the start of a drawn row in at most width cells by code points, and its width.
func cutCodePoints(row string, width int) (string, int) {
	at, w := 0, 0
	for at < len(row) {
		if end := strings.IndexByte(row[at:], 'm'); row[at] == '\x1b' && end > 0 { // the canvas writes only such sequences
			at += end + 1
			continue
		}
		n, _ := cluster(row[at:])
		if cells := ansi.StringWidthWc(row[at : at+n]); w+cells > width {
			break
		} else {
			w += cells
		}
		at += n
	}
	return row[:at], w
}

// disputed reports whether s may have a cluster that is not as wide as its code points together:
// whether it has more than Latin letters, punctuation and the glyphs of the screen.
func disputed(s string) bool {
	for i, r := range s {
		if r >= 0x0300 && !boxed(s[i:]) && (r < 0x2010 || 0x2027 < r && r < 0x2190 || r > 0x25FF) {
			return true
		}
	}
	return false
}
