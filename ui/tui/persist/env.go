package persist

import (
	"eventdeck/host/config"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"

	tea "charm.land/bubbletea/v2"
)

// Env is what settings and themes need from the screen.
type Env struct {
	*cells.Env
	widget.Screen
	File     string                                    // of the operator's settings, "" if there is none
	Keys     func(chosen []config.KeyBinding) []string // binds keys, and returns their problems
	Severity func(pointers map[string]string)          // sets the JSON pointer to the severity by SERVER/TYPE
	Split    func(layout.Split)                        // sets the side of the detail
	ThemeDir string                                    // of the operator's themes, "" if there is none
	Apply    func(themes.Theme)                        // draws the screen in a theme
	Keep     func(name, done string) tea.Cmd           // saves a choice of a theme for the next run
}
