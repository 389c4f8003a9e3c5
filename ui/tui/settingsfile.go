package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/config"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// userFile is the operator's file as it was last read.
type userFile struct {
	path string // "" if there is none
	stat stamp
	*config.Settings
}

// stamp tells whether a file has changed.
type stamp struct {
	size int64
	time int64
	mode fs.FileMode
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime().UnixNano(), info.Mode()}
}

// settingsMsg: the settings were read, or need not be.
type settingsMsg struct {
	file  userFile
	err   error
	asked bool // by the operator, who wants an answer
}

// readSettings reads the file if it has changed, or always when asked.
func readSettings(had userFile, asked bool) (settingsMsg, bool) {
	now := had
	if now.stat = stampOf(had.path); now.stat == had.stat && !asked {
		return settingsMsg{}, false
	}
	read, err := config.LoadSettings(had.path)
	now.Settings = read
	return settingsMsg{now, err, asked}, true
}

// reloadSettings has the settings read anew.
func (a *app) reloadSettings(asked bool) tea.Cmd {
	had := a.userFile
	if had.path == "" {
		if asked {
			a.Tell("there is no file of settings on this system")
		}
		return nil
	}
	return a.Do(func(context.Context) tea.Msg {
		if msg, changed := readSettings(had, asked); changed {
			return msg
		}
		return nil
	})
}

// applySettings takes what was read. What is wrong is told and never fatal: the
// last good settings stay.
func (a *app) applySettings(msg settingsMsg) {
	if msg.err != nil {
		a.userFile.stat = msg.file.stat
		a.tellBad(msg.err.Error() + "; the former settings stay")
		return
	}
	a.userFile = msg.file
	a.actions.Actions = a.actionRows()
	a.settingsProblems = action.Bind(a.actions.Actions, a.userFile.Keys)
	a.restyle() // texts name keys
	for _, apply := range []func() error{a.applySeverity, a.applySplit} {
		if err := apply(); err != nil {
			a.settingsProblems = append(a.settingsProblems, err.Error())
		}
	}
	if _, err := a.userFile.Limits(); err != nil {
		a.settingsProblems = append(a.settingsProblems, strings.Split(err.Error(), "\n")...)
	}
	switch n := len(a.settingsProblems); {
	case n > 1:
		a.tellBad(fmt.Sprintf("%s (and %s more: %s)", a.settingsProblems[0], cells.Count(n-1, "problem"), a.KeyOf("settings.problems")))
	case n == 1:
		a.tellBad(a.settingsProblems[0])
	case msg.asked:
		a.Tell("settings are read from " + a.userFile.path)
	}
}

// applySeverity takes the member "severity": where the payloads of an event type, named
// as SERVER/TYPE, say how bad they are, as a JSON pointer.
func (a *app) applySeverity() error {
	var at map[string]string
	raw, where := a.userFile.Member("severity")
	if raw != nil {
		if err := json.Unmarshal(raw, &at); err != nil {
			return fmt.Errorf(`%s: "severity" must give event types a JSON pointer, such as {"pager/incident.created": "/impact"}: %w`, where, err)
		}
	}
	for name, pointer := range at {
		if !strings.HasPrefix(pointer, "/") {
			return fmt.Errorf(`%s: the severity of %q must be a JSON pointer, such as "/impact", not %q`, where, name, pointer)
		}
	}
	a.stream.Columns.Grave = at
	clear(a.stream.Columns.Picks)
	clear(a.stream.Formed)
	return nil
}

// applySplit takes the member "detail": where the detail stands.
func (a *app) applySplit() error {
	raw, where := a.userFile.Member("detail")
	if a.panes.Usual = layout.Auto; raw == nil {
		return nil
	}
	var name string
	err := json.Unmarshal(raw, &name)
	split, known := layout.Splits[name]
	if err != nil || !known {
		return fmt.Errorf(`%s: "detail" must be "auto", "right" or "below", not %s`, where, raw)
	}
	a.panes.Usual = split
	return nil
}

// showSettingsProblems lists what is wrong in the file of settings.
func (a *app) showSettingsProblems() {
	a.Show(&widget.TextBox{Screen: a, Head: "Settings", Lines: a.settingsProblems})
}
