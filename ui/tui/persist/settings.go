// Package persist saves in the store of the host what the next run of the screen restores:
// settings, the state of the panes, histories of typed lines.
package persist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/widget"
)

// Keys of settings. Some packages of ui/tui define more.
const (
	Layout = "ui.layout"
	Views  = "ui.views"
	Theme  = "ui.theme"
	Glyphs = "ui.glyphs"
	Mouse  = "ui.mouse"
	Notify = "ui.notify"
)

// Host stores settings; see [host.Settings].
type Host interface {
	Setting(key string) (string, error)
	SetSetting(ctx context.Context, key, value string) error
}

// Settings reads and writes settings. Failures are shown on the screen.
type Settings struct {
	Screen widget.Screen
	Host   Host
}

// Get reads the value of a key from the host, "" if it has none. It is called before the program
// runs, not on the event loop.
func (s Settings) Get(key string) string {
	v, err := s.Host.Setting(key)
	if err != nil && !errors.Is(err, event.ErrNotFound) {
		s.Screen.Fail("cannot read the saved settings", err)
	}
	return v
}

// GetJSON unmarshals the value of a key into a pointer. If the key has no value, or one that cannot
// be read, the target stays as it is. It is called like [Settings.Get].
func (s Settings) GetJSON(key string, into any) {
	text := s.Get(key)
	if text == "" {
		return
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		s.Screen.Fail("cannot read the setting "+key, err)
	}
}

// Set returns a command that writes the value of a key and then shows done, "" for nothing.
func (s Settings) Set(key, value, done string) tea.Cmd {
	return s.Screen.Do(func(ctx context.Context) tea.Msg {
		return widget.Done{What: done, Err: s.Host.SetSetting(ctx, key, value)}
	})
}

// SetJSON returns a command that writes a value as JSON. It shows failures only.
func (s Settings) SetJSON(key string, value any) tea.Cmd {
	raw, err := json.Marshal(value)
	if err != nil {
		s.Screen.Fail("cannot save the setting "+key, err)
		return nil
	}
	return s.Screen.Do(func(ctx context.Context) tea.Msg {
		if err := s.Host.SetSetting(ctx, key, string(raw)); err != nil {
			return widget.Done{What: fmt.Sprintf("cannot save the setting %s", key), Err: err}
		}
		return nil
	})
}
