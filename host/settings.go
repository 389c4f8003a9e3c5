package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"eventdeck/host/event"
)

// SettingPrefix begins the keys of the settings of frontends; those of the host's own settings
// begin otherwise.
const SettingPrefix = "ui."

// ErrSetting: a frontend asked for a setting whose key does not begin with [SettingPrefix].
var ErrSetting = errors.New("not a setting of a frontend")

// checkSetting returns [ErrSetting] for a key that is not a frontend's.
func checkSetting(key string) error {
	if !strings.HasPrefix(key, SettingPrefix) {
		return fmt.Errorf("%w: %q does not begin with %q", ErrSetting, key, SettingPrefix)
	}
	return nil
}

// Setting implements [API].
func (r *reader) Setting(key string) (string, error) {
	if err := checkSetting(key); err != nil {
		return "", err
	}
	return r.opts.Store.Setting(key)
}

// SetSetting implements [API].
func (r *reader) SetSetting(ctx context.Context, key, value string) error {
	if err := checkSetting(key); err != nil {
		return err
	}
	return r.opts.Store.SetSetting(ctx, key, value)
}

// Marks implements [API]. The list is shared and never changed.
func (r *reader) Marks() []event.Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.marks
}

// SetMark implements [API].
func (r *reader) SetMark(ctx context.Context, m event.Mark) error {
	if m.At.IsZero() {
		m.At = r.opts.Now()
	}
	m.At = m.At.UTC()
	return r.changeMarks(r.opts.Store.SetMark(ctx, m))
}

// RemoveMark implements [API].
func (r *reader) RemoveMark(ctx context.Context, seq uint64, line bool) error {
	return r.changeMarks(r.opts.Store.RemoveMark(ctx, seq, line))
}

// changeMarks reads the marks again after they were changed, for [Host.Marks]; err is that of
// the change.
func (r *reader) changeMarks(err error) error {
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.marks = r.opts.Store.Marks()
	r.mu.Unlock()
	r.notify()
	return nil
}
