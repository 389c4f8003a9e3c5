// Package themes has the colours and attributes of the screen. A theme gives every role its look;
// panes name roles and never colours.
//
// No role is recognized by its colour alone: each also has a word, a glyph or an attribute, so that
// nothing is lost with the theme "none".
//
// Operators add their own themes as files: see [ReadDir].
package themes

// Reset ends every role.
const Reset = "\x1b[m"

// Theme gives roles their look. It is a value.
type Theme struct {
	Name  string
	About string // a few words about its purpose
	Suits Background
	looks [roles]look
	on    [roles]string // sequences, for depth
	depth Depth
}

// Background is the kind of terminal background that a theme is for.
type Background uint8

// The backgrounds.
const (
	AnyBackground Background = iota
	DarkBackground
	LightBackground
)

// String returns "any", "dark" or "light".
func (b Background) String() string {
	return [...]string{"any", "dark", "light"}[b]
}

// On returns the sequence that begins a role and ends the one before.
func (t *Theme) On(r Role) string {
	if int(r) >= len(t.on) || t.on[r] == "" {
		return Reset
	}
	return t.on[r]
}

// Over returns the sequence of a role within a chosen row (Cursor or CursorOff): the colours of the
// row with the attributes of the role. If the row has no background it is that of the role.
func (t *Theme) Over(row, r Role) string {
	base := t.looks[row]
	if base.back == 0 {
		return t.On(r)
	}
	base.attrs |= t.looks[r].attrs
	return base.on(t.depth)
}

// At returns the theme for a colour depth.
func (t Theme) At(d Depth) Theme {
	if t.depth != d {
		t.depth = d
		t.render()
	}
	return t
}

// Depth is how many colours a terminal has.
type Depth uint8

// The depths.
const (
	ManyColours    Depth = iota // millions
	SixteenColours              // the terminal's own sixteen
	Colours256                  // the xterm table
	NoColours                   // or the operator wants none
)

// All returns the built-in themes, in the order of the list.
func All() []Theme {
	out := make([]Theme, len(builtIn))
	for i, b := range builtIn {
		out[i] = build(b)
	}
	return out
}

// Names returns the names of the built-in themes.
func Names() []string {
	out := make([]string, len(builtIn))
	for i, b := range builtIn {
		out[i] = b.name
	}
	return out
}

// Named returns a built-in theme by its name.
func Named(name string) (Theme, bool) {
	for _, b := range builtIn {
		if b.name == name {
			return build(b), true
		}
	}
	return Theme{}, false
}

// For returns the default theme of a terminal, which depends on its colour depth and background.
func For(darkBackground bool, d Depth) Theme {
	name := "light"
	switch {
	case d == NoColours:
		name = "none"
	case d == SixteenColours && darkBackground:
		name = "ansi16"
	case d == SixteenColours:
		name = "ansi16-light"
	case darkBackground:
		name = "dark"
	}
	t, _ := Named(name)
	return t
}

func build(b definition) Theme {
	t := Theme{Name: b.name, About: b.about, Suits: b.suits, looks: b.looks()}
	t.render()
	return t
}

func (t *Theme) render() {
	for i, l := range t.looks {
		t.on[i] = l.on(t.depth)
	}
}
