package widget

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Bounds of a field: its text in bytes, of one line and of several, and the changes that it can undo.
const (
	lineMax  = 8 << 10
	linesMax = 64 << 10
	undoMax  = 200
)

// Field is a text field. A [textinput.Model] edits the line with the cursor; in addition the cursor
// moves by grapheme clusters, changes can be undone, and there can be several lines. The zero value
// is an empty field of one line.
type Field struct {
	Multiline bool // enter begins another line
	// Mask returns the text that is shown for a line, with the same number of characters; nil shows
	// the line.
	Mask func(line string) string

	lines     []string // the one at row is outdated: input has its text
	row       int      // of the cursor
	input     textinput.Model
	undo      []fieldState
	lastTyped bool // the last change was a typed letter
	selected  bool // all text is selected: typed text replaces it
	leftOut   int  // bytes of the last insertion that did not fit
}

// fieldState is a state that undo restores.
type fieldState struct {
	text     string
	row, col int
}

func (f *Field) ready() {
	if f.lines == nil {
		f.lines = []string{""}
		f.input = textinput.New()
		f.input.SetVirtualCursor(false)
		f.input.Focus()
	}
}

// Set replaces the text, with the cursor at its end. It cannot be undone.
func (f *Field) Set(text string) {
	f.lines = nil
	f.ready()
	f.insert(text)
	f.undo, f.lastTyped, f.selected = nil, false, false
}

// Select selects all text: the next typed or pasted text replaces it, any other key edits it.
func (f *Field) Select() { f.selected = f.Text() != "" }

// deselect ends a selection; without keep it removes the selected text.
func (f *Field) deselect(keep bool) {
	if f.selected && !keep {
		f.lines, f.row = []string{""}, 0
		f.input.SetValue("")
	}
	f.selected = false
}

// Text returns the text of the field, with line feeds between lines.
func (f *Field) Text() string { return strings.Join(f.Lines(), "\n") }

// Lines returns the lines of the field, at least one.
func (f *Field) Lines() []string {
	f.ready()
	f.lines[f.row] = f.input.Value()
	return f.lines
}

// Row returns the index of the line with the cursor.
func (f *Field) Row() int { return f.row }

// Column returns the number of characters before the cursor in its line.
func (f *Field) Column() int { f.ready(); return f.input.Position() }

// SetColumn puts the cursor after n characters of its line.
func (f *Field) SetColumn(n int) { f.ready(); f.input.SetCursor(n) }

// AtTop reports whether the cursor is in the first line.
func (f *Field) AtTop() bool { return f.row == 0 }

// AtBottom reports whether the cursor is in the last line.
func (f *Field) AtBottom() bool { return f.row >= len(f.lines)-1 }

// Insert inserts pasted text at the cursor. What does not fit is left out, and the field says so
// until the next key: one line has 8 KiB, several have 64 KiB.
func (f *Field) Insert(text string) {
	before := f.state()
	f.deselect(false)
	f.insert(text)
	f.changed(before, false)
}

// lineEnds replaces the line ends that terminals paste by line feeds.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// insert inserts a text without its control and other non-graphic characters.
func (f *Field) insert(text string) {
	f.ready()
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' && f.Multiline || r == '\u200c' || r == '\u200d': // the last two join and separate characters
			return r
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, lineEnds.Replace(text))
	room := lineMax
	if f.Multiline {
		room = linesMax
	}
	room = max(0, room-len(f.Text()))
	if f.leftOut = max(0, len(text)-room); f.leftOut > 0 {
		text = strings.ToValidUTF8(text[:room], "")
	}
	head, tail := f.cut()
	lines := strings.Split(head+text, "\n")
	last := len(lines) - 1
	col := utf8.RuneCountInString(lines[last])
	lines[last] += tail
	f.lines = slices.Replace(f.lines, f.row, f.row+1, lines...)
	f.row += last
	f.input.SetValue(lines[last])
	f.input.SetCursor(col)
}

// cut returns the text of the cursor's line before and after the cursor.
func (f *Field) cut() (head, tail string) {
	line, col := []rune(f.input.Value()), f.input.Position()
	return string(line[:col]), string(line[col:])
}

// Key handles a key and reports whether the text changed.
func (f *Field) Key(k tea.KeyPressMsg) (changed bool) {
	f.ready()
	name := k.String()
	switch name {
	case "ctrl+z", "ctrl+_", "ctrl+shift+-": // the last is ctrl+_ on terminals with enhanced keys
		return f.undoLast()
	}
	before := f.state()
	f.deselect(k.Text == "")
	f.leftOut = 0
	line, col := f.input.Value(), f.input.Position()
	end := utf8.RuneCountInString(line)
	switch name {
	case "tab", "shift+tab", "ctrl+v": // tab changes fields; the terminal pastes by itself
		return false
	case "enter":
		if !f.Multiline {
			return false
		}
		f.insert("\n")
	case "up":
		f.goTo(f.row-1, col)
	case "down":
		f.goTo(f.row+1, col)
	case "left", "ctrl+b":
		if col == 0 && f.row > 0 {
			f.goTo(f.row-1, -1)
			break
		}
		before, _ := character(line, col-1)
		f.input.SetCursor(before)
	case "right", "ctrl+f":
		if col == end && !f.AtBottom() {
			f.goTo(f.row+1, 0)
			break
		}
		_, after := character(line, col)
		f.input.SetCursor(after)
	case "backspace", "shift+backspace", "ctrl+h":
		if col == 0 && f.row > 0 {
			f.joinLine(f.row - 1)
			break
		}
		before, _ := character(line, col-1)
		f.remove(before, col)
	case "delete", "ctrl+d":
		if col == end && !f.AtBottom() {
			f.joinLine(f.row)
			break
		}
		_, after := character(line, col)
		f.remove(col, after)
	default:
		if k.Text != "" {
			f.insert(k.Text)
		} else {
			f.input, _ = f.input.Update(k)
		}
	}
	return f.changed(before, k.Text != "" && strings.TrimSpace(k.Text) != "")
}

// remove removes the text of the cursor's line from one column to another.
func (f *Field) remove(from, to int) {
	f.input.SetValue(string(slices.Delete([]rune(f.input.Value()), from, to)))
	f.input.SetCursor(from)
}

// goTo moves the cursor to a column of a line, if that line exists; col -1 is its end.
func (f *Field) goTo(row, col int) {
	if row < 0 || row >= len(f.lines) {
		return
	}
	f.lines[f.row] = f.input.Value()
	f.row = row
	f.input.SetValue(f.lines[row])
	if end := utf8.RuneCountInString(f.lines[row]); col < 0 || col >= end {
		col = end
	} else {
		col, _ = character(f.lines[row], col)
	}
	f.input.SetCursor(col)
}

// joinLine joins the line at row and the next one, and puts the cursor between them.
func (f *Field) joinLine(row int) {
	lines := f.Lines()
	col := utf8.RuneCountInString(lines[row])
	joined := lines[row] + lines[row+1]
	f.lines = slices.Delete(lines, row+1, row+2)
	f.row, f.lines[row] = row, joined
	f.input.SetValue(joined)
	f.input.SetCursor(col)
}

func (f *Field) state() fieldState { return fieldState{f.Text(), f.row, f.input.Position()} }

// changed reports whether the text has changed since before, and records that for undo. Letters
// typed in a row are one change.
func (f *Field) changed(before fieldState, letter bool) bool {
	if f.Text() == before.text {
		f.lastTyped = false
		return false
	}
	if !letter || !f.lastTyped {
		f.undo = append(f.undo, before)
		f.undo = f.undo[max(0, len(f.undo)-undoMax):]
	}
	f.lastTyped = letter
	return true
}

// undoLast undoes the last change.
func (f *Field) undoLast() bool {
	n := len(f.undo)
	if n == 0 {
		return false
	}
	s := f.undo[n-1]
	f.undo, f.lastTyped = f.undo[:n-1], false
	f.lines, f.row = strings.Split(s.text, "\n"), 0
	f.input.SetValue(f.lines[0])
	f.goTo(s.row, s.col)
	return true
}

// character returns the columns at which the character of a line that contains column col begins and
// ends; those of the last one if col is the end of the line.
func character(line string, col int) (from, to int) {
	for line != "" && to <= col {
		cluster, _ := ansi.FirstGraphemeCluster(line, ansi.GraphemeWidth)
		from, to = to, to+utf8.RuneCountInString(cluster)
		line = line[len(cluster):]
	}
	return from, to
}

// shownPerCell bounds the characters of a line that are laid out for each cell of the field; those
// that take no cells of their own may be many.
const shownPerCell = 16

// DrawLine writes line i of the field. If the field has the focus (on), it also puts the cursor of
// the canvas, and the line around it is shown.
func (f *Field) DrawLine(c *cells.Canvas, i int, on bool) {
	role := themes.Field
	if on {
		role = themes.FieldOn
	}
	text := f.Lines()[i]
	if f.Mask != nil {
		text = f.Mask(text)
	}
	line, most := []rune(text), shownPerCell*max(1, c.Room)
	if !on || i != f.row {
		c.Safe(role, cells.Sanitize(string(line[:min(len(line), most)])).Clip(c.Room))
		return
	}
	if f.selected {
		role = themes.Cursor
	}
	word, room := "", c.Room
	if f.leftOut > 0 {
		word = " " + cells.Bytes(uint64(f.leftOut)) + " did not fit"
		room = max(1, room-len(word)-1)
	}
	col := min(f.input.Position(), len(line))
	before := cells.Sanitize(string(line[max(0, col-most):col]))
	shown := before
	for pan := 0; shown.Width >= room && pan < before.Width; {
		pan += shown.Width - room + 1
		shown = cells.Pan(before, pan)
	}
	c.Safe(role, shown)
	c.PutCursor()
	if col == len(line) {
		c.Put(themes.FieldOn, " ")
	} else {
		c.Safe(role, cells.Sanitize(string(line[col:min(len(line), col+most)])).Clip(room-shown.Width))
	}
	c.Right(themes.Warn, word)
}
