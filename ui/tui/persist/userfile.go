// Reads the operator's settings file when it has changed, and shows its problems.
// They are never fatal: the last good settings stay.

package persist

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/config"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// UserFile is the operator's settings file as it was last read.
type UserFile struct {
	Problems []string // one line each
	env      *Env
	stat     stamp
	*config.Settings
}

// NewUserFile returns a file that has not been read yet.
func NewUserFile(env *Env) UserFile { return UserFile{env: env} }

// stamp identifies a version of a file.
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

// Load reads the file. It is called before the program runs.
func (f *UserFile) Load() {
	if now := stampOf(f.env.File); now != f.stat {
		read, err := config.LoadSettings(f.env.File)
		f.take(now, read, err, false)
	}
}

// Reload returns a command that reads the file if it has changed, nil without a file. With asked it
// reads the file in any case and shows the result.
func (f *UserFile) Reload(asked bool) tea.Cmd {
	path, had := f.env.File, f.stat
	if path == "" {
		if asked {
			f.env.Tell("there is no file of settings on this system")
		}
		return nil
	}
	return f.env.Do(func(context.Context) tea.Msg {
		now := stampOf(path)
		if now == had && !asked {
			return nil
		}
		read, err := config.LoadSettings(path)
		return widget.Then(func() tea.Cmd { f.take(now, read, err, asked); return nil })
	})
}

// take applies the settings that were read.
func (f *UserFile) take(now stamp, read *config.Settings, err error, asked bool) {
	f.stat = now
	if err != nil {
		f.env.TellBad(err.Error() + "; the earlier settings stay in effect")
		return
	}
	f.Settings = read
	f.Problems = f.env.Keys(f.Keys)
	for _, apply := range []func() error{f.severity, f.split} {
		if err := apply(); err != nil {
			f.Problems = append(f.Problems, err.Error())
		}
	}
	switch n := len(f.Problems); {
	case n > 1:
		f.env.TellBad(fmt.Sprintf("%s (and %s: %s)", f.Problems[0], cells.Count(n-1, "more problem"), f.env.KeyOf("settings.problems")))
	case n == 1:
		f.env.TellBad(f.Problems[0])
	case asked:
		f.env.Tell("settings are read from " + f.env.File)
	}
}

// severity applies the member "severity": a JSON pointer to the severity in the payloads of each
// SERVER/TYPE.
func (f *UserFile) severity() error {
	var at map[string]string
	raw, where := f.Member("severity")
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
	f.env.Severity(at)
	return nil
}

// split applies the member "detail": the side of the detail.
func (f *UserFile) split() error {
	raw, where := f.Member("detail")
	if raw == nil {
		f.env.Split(layout.Auto)
		return nil
	}
	var name string
	err := json.Unmarshal(raw, &name)
	split, known := layout.Splits[name]
	if err != nil || !known {
		f.env.Split(layout.Auto)
		return fmt.Errorf(`%s: "detail" must be "auto", "right" or "below", not %s`, where, raw)
	}
	f.env.Split(split)
	return nil
}

// ShowProblems lists the problems in a dialog.
func (f *UserFile) ShowProblems() {
	f.env.Show(&widget.TextBox{Screen: f.env, Head: "Settings", Lines: f.Problems})
}
