// Package memo has what the screen remembers between runs: settings that were chosen, what
// was shown and how, lines that were typed. The host keeps it.
package memo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/widget"
)

// Settings that the screen keeps, beside those that its parts name.
const (
	Layout  = "ui.layout"
	Filters = "ui.filters"
	Views   = "ui.views"
	Theme   = "ui.theme"
	Glyphs  = "ui.glyphs"
	Mouse   = "ui.mouse"
	Notify  = "ui.notify"
)

// Host keeps settings; see [host.Settings].
type Host interface {
	Setting(key string) (string, error)
	SetSetting(ctx context.Context, key, value string) error
}

// Settings reads and keeps settings. What cannot be read or kept is told on the screen.
type Settings struct {
	Screen widget.Screen
	Host   Host
}

// Kept returns what was kept, "" if nothing was. It asks the host: it is called before the
// program runs.
func (s Settings) Kept(key string) string {
	v, err := s.Host.Setting(key)
	if err != nil && !errors.Is(err, event.ErrNotFound) {
		s.Screen.Fail("cannot read what was kept", err)
	}
	return v
}

// Read is [Settings.Kept] for what was kept as JSON. Where nothing was kept into stays as
// it is.
func (s Settings) Read(key string, into any) {
	text := s.Kept(key)
	if text == "" {
		return
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		s.Screen.Fail("what was kept under "+key+" cannot be read", err)
	}
}

// Keep keeps a setting for the next run and then says what was done.
func (s Settings) Keep(key, value, done string) tea.Cmd {
	return s.Screen.Do(func(ctx context.Context) tea.Msg {
		return widget.Done{What: done, Err: s.Host.SetSetting(ctx, key, value)}
	})
}

// KeepJSON keeps a value as JSON, without a word.
func (s Settings) KeepJSON(key string, value any) tea.Cmd {
	raw, err := json.Marshal(value)
	if err != nil {
		s.Screen.Fail("cannot keep "+key, err)
		return nil
	}
	return s.Screen.Do(func(ctx context.Context) tea.Msg {
		if err := s.Host.SetSetting(ctx, key, string(raw)); err != nil {
			return widget.Done{What: fmt.Sprintf("cannot keep %s", key), Err: err}
		}
		return nil
	})
}
