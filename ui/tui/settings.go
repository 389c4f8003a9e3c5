package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
)

// kept returns a setting that the screen kept, "" if there is none.
func (a *app) kept(key string) string {
	v, err := a.api.Setting(key)
	if err != nil && !errors.Is(err, event.ErrNotFound) {
		a.fail("cannot read what was kept", err)
	}
	return v
}

// keep keeps a setting for the next run and then says what was done.
func (a *app) keep(key, value, done string) tea.Cmd {
	return a.ask(done, func(ctx context.Context) error { return a.api.SetSetting(ctx, key, value) })
}
