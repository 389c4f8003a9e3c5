package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
)

// kept returns a setting that the screen kept, "" if there is none.
func (a *app) kept(key string) string {
	s, ok := a.api.(settings)
	if !ok {
		return ""
	}
	v, err := s.Setting(key)
	if err != nil && !errors.Is(err, event.ErrNotFound) {
		a.fail("cannot read what was kept", err)
	}
	return v
}

// keep keeps a setting for the next run and then says what was done.
func (a *app) keep(key, value, done string) tea.Cmd {
	s, ok := a.api.(settings)
	if !ok {
		return nil
	}
	return a.ask(done, func(ctx context.Context) error { return s.SetSetting(ctx, key, value) })
}

// settings is the part of [host.API] that keeps small values.
type settings interface {
	Setting(key string) (string, error)
	SetSetting(ctx context.Context, key, value string) error
}
