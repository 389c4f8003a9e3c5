package trust

import (
	"encoding/json"
	"strings"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust/internal/runes"
)

const (
	// inlineDepth is the level from which the JSON view does not break lines.
	inlineDepth = 64
	indentStep  = 2
	maxIndent   = 64
)

// JSON returns the detail view of a JSON payload: indented, with keys in the order and
// numbers in the digits of the text, unsafe characters as \u escapes, and each line end in
// a string shown and followed by a line break. Lines have no tabs and at most width cells;
// a width of 0 or less means unlimited. Below level 64 a value stays on one line. Text that
// is not JSON is shown as [Block].
func JSON(raw []byte, width int) []Rendered { return Detail(raw, nil, width) }

// Place is a part of a string or a key in a JSON text.
type Place struct {
	At         int // offset of its opening quote in the text
	Start, End int // byte offsets in the decoded string; equal: all of it
}

// Detail is [JSON] with places of raw marked by [Segment.Span].
func Detail(raw []byte, places []Place, width int) []Rendered {
	lines, _ := Outline(raw, places, width)
	return lines
}

// Fold is an object or a list of the detail view that can be folded: its first line ends
// with the opening bracket, its last one begins with the closing one.
type Fold struct{ First, Last int }

// Outline is [Detail] with its folds, inner ones before outer ones. Text that is not JSON
// has none.
func Outline(raw []byte, places []Place, width int) ([]Rendered, []Fold) {
	l := Lay(raw, places, width)
	return l.Lines, l.Folds
}

// Layout is a payload line by line.
type Layout struct {
	Lines []Rendered
	Folds []Fold // in the order of [Outline]
	// Values has for each line the offset in the payload of the value on it, -1 for none. A
	// value on several lines counts for each of them. Text that is not JSON has none.
	Values []int
}

// Lay is [Outline] with the values on the lines.
func Lay(raw []byte, places []Place, width int) Layout {
	if !json.Valid(raw) {
		return Layout{Lines: Block(Text{string(raw)}, width)}
	}
	v := jsonView{printer: printer{spell: runes.SpellJSON, json: true, breaks: true, width: width}, raw: raw}
	for i, s := range places {
		if s.End > s.Start {
			if v.spans == nil {
				v.spans = map[int]spanMap{}
			}
			v.spans[s.At] = append(v.spans[s.At], mappedSpan{id: i + 1, start: s.Start, end: s.End})
		}
	}
	v.print()
	for i := range v.values {
		v.values[i]--
	}
	return Layout{v.lines, v.folds, v.values}
}

// jsonView lays out valid JSON.
type jsonView struct {
	printer
	raw   []byte
	spans map[int]spanMap // by the offset of the string
	depth int
	open  []int // first lines of the open containers
	folds []Fold
}

func (v *jsonView) print() {
	raw := v.raw
	for i := jsontext.SkipSpace(raw, 0); i < len(raw); i = jsontext.SkipSpace(raw, i) {
		switch c := raw[i]; c {
		case '{', '[':
			i++
			v.sign(string(c))
			if next := jsontext.SkipSpace(raw, i); raw[next] == c+2 {
				v.sign(string(c + 2))
				i = next + 1
				continue
			}
			v.depth++
			v.next()
			v.open = append(v.open, len(v.lines)-1)
		case '}', ']':
			i++
			v.depth--
			if v.depth+1 <= inlineDepth {
				v.newLine(v.margin())
				v.value = 0
			}
			v.close()
			v.sign(string(c))
		case ',':
			i++
			v.sign(",")
			v.next()
		case ':':
			i++
			v.sign(": ")
		case '"':
			end := jsontext.StringEndIn(raw, i)
			v.kind = Key
			if next := jsontext.SkipSpace(raw, end); next == len(raw) || raw[next] != ':' {
				v.kind = String
				v.holds(i)
			}
			v.str(raw[i+1:end-1], v.spans[i])
			i = end
		default:
			end := i + 1
			for end < len(raw) && strings.IndexByte(",]} \n\t\r", raw[end]) < 0 {
				end++
			}
			v.holds(i)
			if v.kind = Number; c == 't' || c == 'f' || c == 'n' {
				v.kind = Literal
			}
			v.add(string(raw[i:end]), end-i, false, 0)
			i = end
		}
	}
	v.newLine(0)
}

// holds records that the value at raw[i] is on the line, unless another one comes before
// it.
func (v *jsonView) holds(i int) {
	if v.value == 0 {
		v.value = i + 1
	}
}

// sign adds a bracket, comma or colon.
func (v *jsonView) sign(s string) {
	v.kind = Sign
	v.add(s, len(s), false, 0)
}

// close ends the innermost container. A container on one line cannot be folded.
func (v *jsonView) close() {
	first := v.open[len(v.open)-1]
	v.open = v.open[:len(v.open)-1]
	if last := len(v.lines); v.depth+1 <= inlineDepth && last > first {
		v.folds = append(v.folds, Fold{first, last})
	}
}

// next continues after a bracket or a comma.
func (v *jsonView) next() {
	if v.depth <= inlineDepth {
		v.newLine(v.margin())
		v.value = 0
	}
}

// margin returns the indentation of the current level, and sets that of continuation lines
// of a string.
func (v *jsonView) margin() int {
	m := min(v.depth*indentStep, maxIndent)
	if v.width > 0 {
		m = min(m, v.width/2)
	}
	return m
}

func (v *jsonView) str(inside []byte, at spanMap) {
	v.indent = v.margin() + indentStep
	v.add(`"`, 1, false, 0)
	v.text(jsontext.Unquote(inside), at)
	v.add(`"`, 1, false, 0)
}
