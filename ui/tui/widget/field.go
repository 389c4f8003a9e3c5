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

// undoMax bounds the changes that a field can undo.
const undoMax = 200

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

// Insert inserts pasted text at the cursor.
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
		case r == '\n' || r == '\u200c' || r == '\u200d': // the last two join and separate characters
			return r
		case r == '\t':
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, lineEnds.Replace(text))
	for i, line := range strings.Split(text, "\n") {
		switch {
		case i > 0 && f.Multiline:
			f.splitLine()
		case i > 0:
			f.update(tea.PasteMsg{Content: " "})
		}
		f.update(tea.PasteMsg{Content: line})
	}
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
	line, col := []rune(f.input.Value()), f.input.Position()
	switch name {
	case "tab", "shift+tab", "ctrl+v": // tab changes fields; the terminal pastes by itself
		return false
	case "enter":
		if !f.Multiline {
			return false
		}
		f.splitLine()
	case "up":
		f.goTo(f.row-1, col)
	case "down":
		f.goTo(f.row+1, col)
	case "left", "ctrl+b":
		if col == 0 && f.row > 0 {
			f.goTo(f.row-1, -1)
			break
		}
		f.input.SetCursor(col - clusterBefore(line, col))
	case "right", "ctrl+f":
		if col == len(line) && !f.AtBottom() {
			f.goTo(f.row+1, 0)
			break
		}
		f.input.SetCursor(col + clusterAfter(line, col))
	case "backspace", "shift+backspace", "ctrl+h":
		if col == 0 && f.row > 0 {
			f.joinLine(f.row - 1)
			break
		}
		for range clusterBefore(line, col) {
			f.update(tea.KeyPressMsg{Code: tea.KeyBackspace})
		}
	case "delete", "ctrl+d":
		if col == len(line) && !f.AtBottom() {
			f.joinLine(f.row)
			break
		}
		for range clusterAfter(line, col) {
			f.update(tea.KeyPressMsg{Code: tea.KeyDelete})
		}
	default:
		if k.Text != "" {
			f.insert(k.Text)
		} else {
			f.update(k)
		}
	}
	return f.changed(before, k.Text != "" && strings.TrimSpace(k.Text) != "")
}

func (f *Field) update(msg tea.Msg) { f.input, _ = f.input.Update(msg) }

// goTo moves the cursor to a column of a line, if that line exists; col -1 is its end.
func (f *Field) goTo(row, col int) {
	if row < 0 || row >= len(f.lines) {
		return
	}
	f.lines[f.row] = f.input.Value()
	f.row = row
	f.input.SetValue(f.lines[row])
	line := []rune(f.lines[row])
	if col < 0 || col > len(line) {
		col = len(line)
	}
	at := 0 // where the character at col begins
	for n := clusterAfter(line, at); at+n <= col && n > 0; n = clusterAfter(line, at) {
		at += n
	}
	f.input.SetCursor(at)
}

// splitLine splits the line at the cursor.
func (f *Field) splitLine() {
	line, col := []rune(f.input.Value()), f.input.Position()
	f.input.SetValue(string(line[:col]))
	f.lines = slices.Insert(f.lines, f.row+1, string(line[col:]))
	f.goTo(f.row+1, 0)
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

// clusterBefore returns the number of runes of the character that ends at col.
func clusterBefore(line []rune, col int) int {
	at := 0
	for at < col {
		n := clusterAfter(line, at)
		if at+n >= col {
			return col - at
		}
		at += n
	}
	return 0
}

// clusterAfter returns the number of runes of the character that begins at col.
func clusterAfter(line []rune, col int) int {
	if col >= len(line) {
		return 0
	}
	cluster, _ := ansi.FirstGraphemeCluster(string(line[col:]), ansi.GraphemeWidth)
	return utf8.RuneCountInString(cluster)
}

// DrawLine writes line i of the field. If the field has the focus (on), it also puts the cursor of
// the canvas.
func (f *Field) DrawLine(c *cells.Canvas, i int, on bool) {
	role := themes.Field
	if on {
		role = themes.FieldOn
	}
	text := f.Lines()[i]
	if f.Mask != nil {
		text = f.Mask(text)
	}
	if !on || i != f.row {
		c.Safe(role, cells.Sanitize(text).Clip(c.Room))
		return
	}
	if f.selected {
		role = themes.Cursor
	}
	line := []rune(text)
	col := min(f.input.Position(), len(line))
	start := 0 // the first character that is shown, so that the cursor is visible
	for start < col && cells.Sanitize(string(line[start:col])).Width+1 > c.Room {
		start += clusterAfter(line, start)
	}
	c.Safe(role, cells.Sanitize(string(line[start:col])))
	c.PutCursor()
	if col == len(line) {
		c.Put(themes.FieldOn, " ")
		return
	}
	c.Safe(role, cells.Sanitize(string(line[col:])).Clip(c.Room))
}
