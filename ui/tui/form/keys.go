package form

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/widget"
)

// Key implements [widget.Dialog].
func (f *Form) Key(k tea.KeyPressMsg) tea.Cmd {
	return tea.Batch(f.key(k), f.ask())
}

func (f *Form) key(k tea.KeyPressMsg) tea.Cmd {
	name, text := k.String(), k.Text
	if f.busy && name != "esc" {
		return nil
	}
	switch name {
	case "esc":
		if f.busy || f.late && f.existing() != nil {
			return f.background()
		}
		return f.leave()
	case "ctrl+s":
		return f.send()
	case "ctrl+e":
		return f.editJSON()
	case "ctrl+p":
		f.preview = !f.preview
		return nil
	case "ctrl+r":
		f.unmasked = !f.unmasked
		return nil
	case "ctrl+t":
		if f.custom != nil {
			return nil
		}
		return f.openTemplates()
	case "tab", "shift+tab":
		f.preview = false
		f.step(map[string]int{"tab": 1, "shift+tab": -1}[name], true)
		return nil
	}
	switch f.on.kind {
	case itemMode, itemStart:
		return f.chipKey(name)
	case itemField:
		if f.on.entry.Chooses() {
			return f.choiceKey(name, text)
		}
		return f.textKey(k)
	case itemAge, itemTTL, itemEnd:
		return f.textKey(k)
	}
	switch name {
	case "enter", "space":
		return f.send()
	case "up", "k":
		f.step(-1, false)
	}
	return nil
}

// leave closes the form. It asks first if values would be lost.
func (f *Form) leave() tea.Cmd {
	e := f.env
	if f.preview && !f.drawn.wide {
		f.preview = false
		return nil
	}
	if !f.dirty() {
		e.Show(nil)
		return nil
	}
	back := func() { e.Show(f) }
	e.Show(&widget.Confirm{Screen: e,
		Head: "Leave the form", Lines: []string{"What you filled in is not kept."},
		Choices: []widget.Choice{
			{Key: "n", Title: "go on filling it in", Run: func() tea.Cmd { back(); return nil }},
			{Key: "y", Title: "leave", Run: func() tea.Cmd { return nil }},
			{Key: "esc", Title: "leave", Run: func() tea.Cmd { return nil }}, // so that esc leads out of everything
		},
		Cancelled: back,
	})
	return nil
}

// chipKey handles a key at the modes or the starts, of which the one under the cursor is chosen.
func (f *Form) chipKey(name string) tea.Cmd {
	step := map[string]int{"left": -1, "h": -1, "right": 1, "l": 1, "space": 1}[name]
	switch {
	case name == "enter", name == "down", name == "j":
		f.step(1, false)
	case name == "up", name == "k":
		f.step(-1, false)
	case step == 0:
	case f.on.kind == itemStart:
		f.start = (f.start + step + len(starts)) % len(starts)
	default:
		f.nextMode(step)
		return f.check()
	}
	return nil
}

// nextMode chooses the next usable mode.
func (f *Form) nextMode(step int) {
	for i := 1; i < len(f.modes); i++ {
		at := (f.mode + i*step + i*len(f.modes)) % len(f.modes)
		if f.modes[at].why == "" {
			f.chosen = true
			f.setMode(at)
			return
		}
	}
}

// choiceKey handles a key at the choices of a field. If only one can be chosen it is the one under the
// cursor; otherwise space chooses.
func (f *Form) choiceKey(name, text string) tea.Cmd {
	e := f.on.entry
	many := e.Kind == schema.FieldEnums
	to := -1
	switch name {
	case "enter", "down":
		f.step(1, false)
		return nil
	case "up":
		f.step(-1, false)
		return nil
	case "backspace", "delete", "ctrl+u":
		e.Clear()
		return f.changed()
	case "ctrl+n":
		e.TurnNull()
		return f.changed()
	case "space":
		if many || !e.Set() {
			e.Pick(f.chip)
		} else {
			e.Clear()
		}
		return f.changed()
	case "left":
		to = f.chip - 1
	case "right":
		to = f.chip + 1
	case "home":
		to = 0
	case "end":
		to = len(e.Choices) - 1
	default:
		to = f.beginsWith(text)
	}
	if to < 0 || to >= len(e.Choices) {
		if e.Set() || many {
			return nil
		}
		to = f.chip
	}
	if !many && !e.Set() && (name == "right" || name == "left") {
		to = max(e.DefaultChoice(), 0) // the first key shows the cursor
	}
	f.chip = to
	if !many && !e.Picked(to) {
		e.Pick(to)
		return f.changed()
	}
	return nil
}

// beginsWith returns the next choice whose label begins with what was typed.
func (f *Form) beginsWith(text string) int {
	e := f.on.entry
	if strings.TrimSpace(text) == "" {
		return -1
	}
	for i := 1; i <= len(e.Choices); i++ {
		at := (f.chip + i) % len(e.Choices)
		if strings.HasPrefix(strings.ToLower(strings.Trim(e.Choices[at].Label.Raw(), `"`)), strings.ToLower(text)) {
			return at
		}
	}
	return -1
}

// textKey edits a field for text.
func (f *Form) textKey(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+l" && f.on.kind == itemField && len(f.on.entry.Examples) > 0:
		f.edit.Set(nextExample(f.on.entry.Examples, f.edit.Text()))
		return f.written()
	case name == "ctrl+n" && f.on.kind == itemField && f.on.entry.Nullable:
		f.on.entry.TurnNull()
		f.edit.Set("")
		return f.changed()
	case name == "enter" && !f.edit.Multiline,
		name == "down" && f.edit.AtBottom():
		f.step(1, false)
		return nil
	case name == "up" && f.edit.AtTop():
		f.step(-1, false)
		return nil
	}
	if !f.edit.Key(k) {
		return nil
	}
	return f.written()
}

// nextExample returns the example after text, if text is one, else the first that contains text.
func nextExample(examples []trust.Text, text string) string {
	for i, e := range examples {
		if e.Raw() == text {
			return examples[(i+1)%len(examples)].Raw()
		}
	}
	for _, e := range examples {
		if strings.Contains(strings.ToLower(e.Raw()), strings.ToLower(strings.TrimSpace(text))) {
			return e.Raw()
		}
	}
	return text
}

// written stores the text of the field with the focus.
func (f *Form) written() tea.Cmd {
	switch f.on.kind {
	case itemField:
		f.on.entry.Write(f.edit.Text())
		return f.changed()
	case itemAge:
		f.age = f.edit.Text()
	case itemTTL:
		f.ttl = f.edit.Text()
	case itemEnd:
		f.end = strings.TrimSpace(f.edit.Text())
	}
	return nil
}

// changed validates the form after a change.
func (f *Form) changed() tea.Cmd {
	delete(f.refusals, f.on.entry)
	f.late = false
	f.banner = banner{}
	f.validate()
	return f.check()
}

// Paste implements [widget.Dialog].
func (f *Form) Paste(text string) tea.Cmd {
	if f.busy || f.on.kind == itemField && f.on.entry.Chooses() || !slices.Contains([]itemKind{itemField, itemAge, itemTTL, itemEnd}, f.on.kind) {
		return nil
	}
	f.edit.Insert(text)
	return tea.Batch(f.written(), f.ask())
}
