package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"eventdeck/host/event"
)

// broken is closed when nothing can be read or stored any more, nil for a store that does
// not tell.
func (d *deck) broken() <-chan struct{} {
	if s, ok := d.store.(interface{ Broken() <-chan struct{} }); ok {
		return s.Broken()
	}
	return nil
}

// whileSound runs a screen until it ends, or the store does: then it returns why.
func (d *deck) whileSound(ctx context.Context, screen func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-d.broken():
			cancel()
		case <-ctx.Done():
		}
	}()
	err := screen(ctx)
	select {
	case <-d.broken():
		return errors.Join(err, helped(d.store.Info().Err))
	default:
		return err
	}
}

const recoverAdvice = "`eventdeck store check` tells more, `eventdeck store recover` keeps what can be read"

// helped adds to damage what helps, where that is not said yet.
func helped(err error) error {
	if err == nil || !errors.Is(err, event.ErrDamaged) || strings.Contains(err.Error(), "eventdeck store recover") {
		return err
	}
	return fmt.Errorf("%w; %s", err, recoverAdvice)
}
