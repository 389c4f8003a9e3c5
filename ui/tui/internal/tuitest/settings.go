package tuitest

import (
	"context"

	"eventdeck/host/event"
)

// Settings are settings in memory, by their keys.
type Settings map[string]string

// Setting returns the value of a setting.
//
// Error: [event.ErrNotFound].
func (s Settings) Setting(key string) (string, error) {
	if v, ok := s[key]; ok {
		return v, nil
	}
	return "", event.ErrNotFound
}

// SetSetting keeps a setting. It does not fail.
func (s Settings) SetSetting(_ context.Context, key, value string) error {
	s[key] = value
	return nil
}
