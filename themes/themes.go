// Package themes says what the parts of the screen look like. A theme gives
// every role its attributes; panes name roles and never colours.
//
// No role is told by its colour alone: each has a word, a glyph or an attribute
// beside it, so that the theme "none" loses nothing.
//
// Operators add themes of their own as files: see [ReadDir].
package themes

// Reset ends every role.
const Reset = "\x1b[m"

// Theme gives roles their look. It is a value.
type Theme struct {
	Name  string
	About string // for whom or what it is, in a few words
	Suits Background
	looks [roles]look
	on    [roles]string
	depth Depth // that on is for
}

// Background is the kind of terminal background that a theme is made for.
type Background uint8

// The backgrounds.
const (
	AnyBackground Background = iota
	DarkBackground
	LightBackground
)

// String returns the word for it.
func (b Background) String() string {
	return [...]string{"any", "dark", "light"}[b]
}

// On returns the sequence that begins a role. It undoes the role before.
func (t *Theme) On(r Role) string {
	if int(r) >= len(t.on) || t.on[r] == "" {
		return Reset
	}
	return t.on[r]
}

// Over returns the sequence of a role within a chosen row (Cursor or CursorOff):
// the colours of the row with the attributes of the role, so that the row stays
// one. In a row without a background of its own it is the role as it stands.
func (t *Theme) Over(row, r Role) string {
	base := t.looks[row]
	if base.back == 0 {
		return t.On(r)
	}
	base.attrs |= t.looks[r].attrs
	return base.on(t.depth)
}

// At returns the theme for a terminal of so many colours.
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
	SixteenColours              // only its own sixteen
	Colours256                  // those of the usual table
	NoColours                   // or colours are not wanted
)

// All returns the themes of the program, in the order in which they are offered.
func All() []Theme {
	out := make([]Theme, len(builtIn))
	for i, b := range builtIn {
		out[i] = build(b)
	}
	return out
}

// Names lists the themes of the program.
func Names() []string {
	out := make([]string, len(builtIn))
	for i, b := range builtIn {
		out[i] = b.name
	}
	return out
}

// Named returns a theme of the program by its name.
func Named(name string) (Theme, bool) {
	for _, b := range builtIn {
		if b.name == name {
			return build(b), true
		}
	}
	return Theme{}, false
}

// For returns the default for a terminal: by its background, unless it has few
// colours.
func For(darkBackground bool, d Depth) Theme {
	name := "light"
	switch {
	case d == NoColours:
		name = "none"
	case d == SixteenColours:
		name = "ansi16"
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
