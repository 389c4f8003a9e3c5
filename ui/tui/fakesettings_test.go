package tui

import (
	"context"

	"eventdeck/host/event"
)

func (h *fakeHost) Setting(key string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v, ok := h.settings[key]; ok {
		return v, nil
	}
	return "", event.ErrNotFound
}

func (h *fakeHost) SetSetting(_ context.Context, key, value string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.settings == nil {
		h.settings = map[string]string{}
	}
	h.settings[key] = value
	return h.refuse
}
