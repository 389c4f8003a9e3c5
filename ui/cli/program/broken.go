package program

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"eventdeck/host/event"
)

// Broken is closed when nothing can be read or stored any more, nil for a store that does
// not tell.
func (d *Deck) Broken() <-chan struct{} {
	if s, ok := d.Store.(interface{ Broken() <-chan struct{} }); ok {
		return s.Broken()
	}
	return nil
}

// WhileSound runs a screen until it ends, or the store does: then it returns why.
func (d *Deck) WhileSound(ctx context.Context, screen func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-d.Broken():
			cancel()
		case <-ctx.Done():
		}
	}()
	err := screen(ctx)
	select {
	case <-d.Broken():
		return errors.Join(err, Helped(d.Store.Info().Err))
	default:
		return err
	}
}

const recoverAdvice = "`eventdeck store check` tells more, `eventdeck store recover` keeps what can be read"

// Helped adds to damage what helps, where that is not said yet.
func Helped(err error) error {
	if err == nil || !errors.Is(err, event.ErrDamaged) || strings.Contains(err.Error(), "eventdeck store recover") {
		return err
	}
	return fmt.Errorf("%w; %s", err, recoverAdvice)
}
