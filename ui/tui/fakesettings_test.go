package tui

import (
	"context"
	"slices"

	"eventdeck/host"
	"eventdeck/host/event"
)

func (h *fakeHost) Setting(key string) (string, error) {
	offEventLoop()
	h.mu.Lock()
	defer h.mu.Unlock()
	if v, ok := h.settings[key]; ok {
		return v, nil
	}
	return "", event.ErrNotFound
}

func (h *fakeHost) SetSetting(_ context.Context, key, value string) error {
	offEventLoop()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.settings == nil {
		h.settings = map[string]string{}
	}
	h.settings[key] = value
	return h.refuse
}

func (h *fakeHost) Stats() host.Stats {
	offEventLoop()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.measured++
	return h.stats
}

func (h *fakeHost) Marks() []event.Mark {
	offEventLoop()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.marks
}

func (h *fakeHost) SetMark(ctx context.Context, m event.Mark) error {
	if err := h.RemoveMark(ctx, m.Seq, m.Line); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.marks = append(h.marks, m)
	slices.SortStableFunc(h.marks, func(x, y event.Mark) int { return int(x.Seq) - int(y.Seq) })
	return nil
}

func (h *fakeHost) RemoveMark(_ context.Context, seq uint64, line bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuse != nil {
		return h.refuse
	}
	h.marks = slices.DeleteFunc(slices.Clone(h.marks), func(m event.Mark) bool { return m.Seq == seq && m.Line == line })
	return nil
}
