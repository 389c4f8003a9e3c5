package tui

// drawHints shows the keys that work: in the dialog, after the first of two
// keys, or in the panes.
func (a *app) drawHints() string {
	var pairs []string
	if a.dialog != nil {
		pairs = a.dialog.Hints()
	}
	return a.actions.Hints(&a.Theme, a.panes.W, pairs)
}

// bottom lays what is asked of the operator over the last lines of the frame: a
// prompt, or the second keys where hints have no line of their own.
func (a *app) bottom(lines []string) {
	n := len(lines)
	switch {
	case a.prompt != nil && n >= 2:
		rows := a.drawPrompt(n)
		copy(lines[n-len(rows):], rows)
	case a.actions.Chord != "" && a.panes.Now.Hints.Empty() && n >= 1:
		lines[n-1] = a.drawHints()
	}
}
