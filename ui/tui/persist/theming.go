// Selects the theme of the screen: the one that the operator named or saved, built
// in or from a file, else one that suits the terminal.

package persist

import (
	"context"
	"errors"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// ErrNoTheme says that there is no theme of a name.
var ErrNoTheme = errors.New("there is no theme")

// Selector selects the theme. The first of these decides: the command line, a terminal without
// colours, the saved choice, the background of the terminal. It is for the event loop.
type Selector struct {
	env     *Env
	own     []themes.Theme // read from the folder
	wrong   string         // the error of the last reading, "" for none
	name    string         // the chosen theme, "" lets the terminal decide
	dark    bool           // the terminal's background
	depth   themes.Depth
	reading bool // the folder is being read
}

// NewSelector returns a selector for the theme of a name, "" for one that suits the terminal. With
// noColours only attributes are used. It reads the operator's themes, so it is called before the
// program runs.
func NewSelector(env *Env, name string, noColours bool) Selector {
	s := Selector{env: env, dark: true, name: name}
	if noColours {
		s.depth = themes.NoColours
	}
	if env.ThemeDir != "" {
		own, err := themes.ReadDir(env.ThemeDir)
		s.take(own, err, false)
	}
	return s
}

// Start applies the chosen theme. Error: [ErrNoTheme], if there is none of the chosen name; then it
// applies one that suits the terminal.
func (s *Selector) Start() error {
	s.applyChosen()
	if s.name != "" && s.env.Theme.Name != s.name {
		return fmt.Errorf("%w %q", ErrNoTheme, s.name)
	}
	return nil
}

// Themes returns all themes, the operator's first.
func (s *Selector) Themes() []themes.Theme { return slices.Concat(s.own, themes.All()) }

// Names returns the names of [Selector.Themes].
func (s *Selector) Names() []string {
	var names []string
	for _, t := range s.Themes() {
		names = append(names, t.Name)
	}
	return names
}

// HasDir reports whether there is a folder of the operator's themes.
func (s *Selector) HasDir() bool { return s.env.ThemeDir != "" }

// Use applies the theme of a name and saves the choice. Error: [ErrNoTheme].
func (s *Selector) Use(name string) (tea.Cmd, error) {
	for _, t := range s.Themes() {
		if t.Name == name {
			s.apply(t)
			s.name = name
			return s.env.Keep(name, "theme "+name), nil
		}
	}
	return nil, fmt.Errorf("%w %q", ErrNoTheme, name)
}

// applyChosen applies the chosen theme, or one that suits the terminal.
func (s *Selector) applyChosen() {
	for _, t := range s.Themes() {
		if t.Name == s.name {
			s.apply(t)
			return
		}
	}
	s.apply(themes.For(s.dark, s.depth))
}

func (s *Selector) apply(t themes.Theme) { s.env.Apply(t.At(s.depth)) }

// Detect adapts the theme to a report of the terminal: a [tea.BackgroundColorMsg] or a
// [tea.ColorProfileMsg].
func (s *Selector) Detect(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.BackgroundColorMsg:
		s.dark = msg.IsDark()
	case tea.ColorProfileMsg:
		if s.depth == themes.NoColours {
			break
		}
		switch msg.Profile {
		case colorprofile.ANSI:
			s.depth = themes.SixteenColours
		case colorprofile.ANSI256:
			s.depth = themes.Colours256
		default:
			s.depth = themes.ManyColours
		}
	}
	if _, picking := s.env.Shown().(*picker); !picking {
		s.applyChosen()
	}
}

// Reload returns a command that reads the operator's themes again, nil if there is no folder or it
// is being read. With asked the result is shown.
func (s *Selector) Reload(asked bool) tea.Cmd {
	if s.env.ThemeDir == "" || s.reading {
		return nil
	}
	s.reading = true
	dir := s.env.ThemeDir
	return s.env.Do(func(context.Context) tea.Msg {
		own, err := themes.ReadDir(dir)
		return widget.Then(func() tea.Cmd { s.take(own, err, asked); return nil })
	})
}

// take stores the operator's themes. It shows an error once, or again with asked.
func (s *Selector) take(own []themes.Theme, err error, asked bool) {
	s.reading = false
	wrong := ""
	if err != nil {
		wrong = err.Error()
	}
	switch {
	case err != nil && (asked || wrong != s.wrong):
		s.env.Fail("themes", err)
	case asked:
		s.env.Tell(fmt.Sprintf("read %s from %s", cells.Count(len(own), "theme"), s.env.ThemeDir))
	}
	s.wrong = wrong
	current := s.env.Theme.Name
	s.own = own
	if slices.ContainsFunc(s.own, func(t themes.Theme) bool { return t.Name == current || t.Name == s.name }) {
		s.applyChosen()
	}
	if p, ok := s.env.Shown().(*picker); ok {
		p.load()
	}
}

// Run runs the typed command that changes the theme.
func (s *Selector) Run(words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		s.Open()
		return nil, nil
	}
	if len(words) > 1 {
		return nil, evidence.ErrUsage
	}
	return s.Use(words[0])
}
