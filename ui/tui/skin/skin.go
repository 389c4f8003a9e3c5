// Package skin chooses the theme of the screen: what the operator named, kept or wrote
// into files, else what suits the terminal.
package skin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// ErrNoTheme says that no theme has a name.
var ErrNoTheme = errors.New("there is no theme")

// Env is what a skin is made from.
type Env struct {
	*cells.Env
	widget.Screen
	Dir  string                          // of the operator's themes, "" if there is none
	Wear func(themes.Theme)              // shows the screen in a theme
	Keep func(name, done string) tea.Cmd // keeps a choice for the next run
}

// Skin says how the theme is chosen. What is named first decides: the command
// line, colours that are not wanted, what the operator kept, the terminal.
type Skin struct {
	env    Env
	own    []themes.Theme // read from the folder
	wrong  string         // what was wrong there when it was read last
	name   string         // the theme that was chosen, "" lets the terminal decide
	dark   bool           // the terminal's background
	depth  themes.Depth
	asking bool // the folder is being read
}

// New returns a skin with a theme that was chosen, "" for none; without colours only
// attributes are used. It reads the operator's themes, before the program runs.
func New(env Env, name string, noColours bool) Skin {
	s := Skin{env: env, dark: true, name: name}
	if noColours {
		s.depth = themes.NoColours
	}
	if env.Dir != "" {
		own, err := themes.ReadDir(env.Dir)
		s.take(own, err, false)
	}
	return s
}

// Begin puts on the first theme. Error: [ErrNoTheme] says that the chosen one is not there,
// and another is worn.
func (s *Skin) Begin() error {
	s.dress()
	if s.name != "" && s.env.Theme.Name != s.name {
		return fmt.Errorf("%w %q", ErrNoTheme, s.name)
	}
	return nil
}

// Themes are all that can be chosen, the operator's first.
func (s *Skin) Themes() []themes.Theme { return slices.Concat(s.own, themes.All()) }

// Names are the names of [Skin.Themes].
func (s *Skin) Names() []string {
	var names []string
	for _, t := range s.Themes() {
		names = append(names, t.Name)
	}
	return names
}

// HasDir tells whether there is a folder of the operator's themes.
func (s *Skin) HasDir() bool { return s.env.Dir != "" }

// Use puts on a theme and keeps it. Error: [ErrNoTheme].
func (s *Skin) Use(name string) (tea.Cmd, error) {
	for _, t := range s.Themes() {
		if t.Name == name {
			s.wear(t)
			s.name = name
			return s.env.Keep(name, "theme "+name), nil
		}
	}
	return nil, fmt.Errorf("%w %q", ErrNoTheme, name)
}

// dress puts on the theme that was chosen, or that suits the terminal.
func (s *Skin) dress() {
	for _, t := range s.Themes() {
		if t.Name == s.name {
			s.wear(t)
			return
		}
	}
	s.wear(themes.For(s.dark, s.depth))
}

func (s *Skin) wear(t themes.Theme) { s.env.Wear(t.At(s.depth)) }

// TerminalSays takes what the terminal tells of its colours: a [tea.BackgroundColorMsg] or
// a [tea.ColorProfileMsg].
func (s *Skin) TerminalSays(msg tea.Msg) {
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
		s.dress()
	}
}

// Reload reads the operator's themes again. What came of it is told when it was asked for.
func (s *Skin) Reload(asked bool) tea.Cmd {
	if s.env.Dir == "" || s.asking {
		return nil
	}
	s.asking = true
	dir := s.env.Dir
	return s.env.Do(func(context.Context) tea.Msg {
		own, err := themes.ReadDir(dir)
		return widget.Then(func() tea.Cmd { s.take(own, err, asked); return nil })
	})
}

// take takes the operator's themes. What is wrong with a file is told once,
// and whenever the operator asks.
func (s *Skin) take(own []themes.Theme, err error, asked bool) {
	s.asking = false
	wrong := ""
	if err != nil {
		wrong = err.Error()
	}
	switch {
	case err != nil && (asked || wrong != s.wrong):
		s.env.Fail("themes", err)
	case asked:
		s.env.Tell(fmt.Sprintf("read %s from %s", cells.Count(len(own), "theme"), s.env.Dir))
	}
	s.wrong = wrong
	worn := s.env.Theme.Name
	s.own = own
	if slices.ContainsFunc(s.own, func(t themes.Theme) bool { return t.Name == worn || t.Name == s.name }) {
		s.dress()
	}
	if p, ok := s.env.Shown().(*picker); ok {
		p.load()
	}
}
