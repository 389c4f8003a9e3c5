package screen

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// Style is the style of a cell. Colours are "" for the terminal's default, else #rrggbb.
type Style struct {
	FG, BG                                  string
	Bold, Faint, Italic, Underline, Reverse bool
}

// with returns the style after an SGR sequence.
func (st Style) with(params string) Style {
	var nums []int
	for _, f := range strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' }) {
		n, _ := strconv.Atoi(f)
		nums = append(nums, n)
	}
	if len(nums) == 0 {
		return Style{}
	}
	for i := 0; i < len(nums); i++ {
		switch n := nums[i]; {
		case n == 0:
			st = Style{}
		case n == 1:
			st.Bold = true
		case n == 2:
			st.Faint = true
		case n == 3:
			st.Italic = true
		case n == 4:
			st.Underline = true
		case n == 7:
			st.Reverse = true
		case n == 22:
			st.Bold, st.Faint = false, false
		case n == 23:
			st.Italic = false
		case n == 24:
			st.Underline = false
		case n == 27:
			st.Reverse = false
		case n == 38 || n == 48:
			colour, used := extended(nums[i+1:])
			i += used
			if n == 38 {
				st.FG = colour
			} else {
				st.BG = colour
			}
		case n == 39:
			st.FG = ""
		case n == 49:
			st.BG = ""
		case 30 <= n && n <= 37:
			st.FG = indexed(n - 30)
		case 40 <= n && n <= 47:
			st.BG = indexed(n - 40)
		case 90 <= n && n <= 97:
			st.FG = indexed(n - 82)
		case 100 <= n && n <= 107:
			st.BG = indexed(n - 92)
		}
	}
	return st
}

// extended reads an indexed or an RGB colour.
func extended(nums []int) (colour string, used int) {
	switch {
	case len(nums) >= 2 && nums[0] == 5:
		return indexed(nums[1]), 2
	case len(nums) >= 4 && nums[0] == 2:
		return fmt.Sprintf("#%02x%02x%02x", nums[1]&255, nums[2]&255, nums[3]&255), 4
	}
	return "", len(nums)
}

var sixteen = [16]string{
	"#1e222a", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
	"#5c6370", "#ff7b86", "#b5e890", "#ffd98e", "#7cc5ff", "#de8ff0", "#6fd3df", "#ffffff",
}

// indexed returns a colour of the 256-colour palette.
func indexed(n int) string {
	switch {
	case n < 0 || n > 255:
		return ""
	case n < 16:
		return sixteen[n]
	case n >= 232:
		v := 8 + (n-232)*10
		return fmt.Sprintf("#%02x%02x%02x", v, v, v)
	}
	n -= 16
	part := func(v int) int {
		if v == 0 {
			return 0
		}
		return 55 + v*40
	}
	return fmt.Sprintf("#%02x%02x%02x", part(n/36), part(n/6%6), part(n%6))
}

// Measures of the picture, in pixels.
const (
	cellWidth, cellHeight, margin = 8.4, 16.4, 12.0
)

// Paper is the default colours of a picture, as #rrggbb.
type Paper struct{ Background, Text string }

// Dark returns the colours of a dark terminal.
func Dark() Paper { return Paper{"#12161e", "#d5d9e0"} }

// Light returns the colours of a light terminal.
func Light() Paper { return Paper{"#ffffff", "#24292f"} }

// SVG draws the cells as a picture.
func (s *Screen) SVG(paper Paper) string {
	cells := s.Cells()
	var b strings.Builder
	w, h := float64(s.w)*cellWidth+2*margin, float64(len(cells))*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14">`+"\n", w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper.Background)
	for y, row := range cells {
		for x := 0; x < len(row); {
			end := x + 1
			for end < len(row) && row[end].Style == row[x].Style {
				end++
			}
			paper.draw(&b, row[x:end], x, y)
			x = end
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// draw draws consecutive cells of one style.
func (p Paper) draw(b *strings.Builder, run []Cell, x, y int) {
	st := run[0].Style
	fg, bg := st.FG, st.BG
	if fg == "" {
		fg = p.Text
	}
	if st.Reverse {
		if bg == "" {
			bg = p.Background
		}
		fg, bg = bg, fg
	}
	left, top := margin+float64(x)*cellWidth, margin+float64(y)*cellHeight
	width := float64(len(run)) * cellWidth
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" shape-rendering="crispEdges"/>`, left, top, width, cellHeight, bg)
	}
	var text strings.Builder
	for _, c := range run {
		text.WriteString(c.Text)
	}
	if strings.TrimSpace(text.String()) == "" {
		return
	}
	attrs := ""
	if st.Bold {
		attrs += ` font-weight="bold"`
	}
	if st.Faint {
		attrs += ` opacity="0.65"`
	}
	if st.Underline {
		attrs += ` text-decoration="underline"`
	}
	if st.Italic {
		attrs += ` font-style="italic"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
		left, top+12.8, width, fg, attrs, html.EscapeString(text.String()))
}
