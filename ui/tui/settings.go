package tui

import (
	"context"
	"encoding/json"
	"errors"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/widget"
)

// kept returns a setting that the screen kept, "" if there is none.
func (a *app) kept(key string) string {
	v, err := a.api.Setting(key)
	if err != nil && !errors.Is(err, event.ErrNotFound) {
		a.Fail("cannot read what was kept", err)
	}
	return v
}

// keep keeps a setting for the next run and then says what was done.
func (a *app) keep(key, value, done string) tea.Cmd {
	return a.Ask(done, func(ctx context.Context) error { return a.api.SetSetting(ctx, key, value) })
}

// keepSetting keeps a part of the screen's state as JSON, without a word.
func (a *app) keepSetting(key string, value any) tea.Cmd {
	raw, err := json.Marshal(value)
	if err != nil {
		a.Fail("cannot keep "+key, err)
		return nil
	}
	return a.Do(func(ctx context.Context) tea.Msg {
		if err := a.api.SetSetting(ctx, key, string(raw)); err != nil {
			return widget.Done{What: "cannot keep " + key, Err: err}
		}
		return nil
	})
}

// readSetting reads what an earlier run kept with keepSetting.
func (a *app) readSetting(key string, into any) {
	text := a.kept(key)
	if text == "" {
		return
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		a.Fail("what was kept under "+key+" cannot be read", err)
	}
}
