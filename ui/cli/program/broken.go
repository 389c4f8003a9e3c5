package program

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"eventdeck/host/event"
)

// Broken returns a channel that is closed when nothing can be read or stored any more; nil if
// the store does not report that.
func (d *OpenHost) Broken() <-chan struct{} {
	if s, ok := d.Store.(interface{ Broken() <-chan struct{} }); ok {
		return s.Broken()
	}
	return nil
}

// WhileSound runs a screen until it ends. When the store is damaged or gone, it ends the
// screen and returns why.
func (d *OpenHost) WhileSound(ctx context.Context, screen func(context.Context) error) error {
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
		return errors.Join(err, AdviseRecovery(d.Store.Info().Err))
	default:
		return err
	}
}

const recoverAdvice = "`eventdeck store check` tells more, `eventdeck store recover` keeps what can be read"

// AdviseRecovery adds to an error about damage what the operator can do, unless it says so
// already, or that something else helps: damage of a copy is no reason to rebuild the store.
func AdviseRecovery(err error) error {
	var advised interface{ Remedy() string }
	if !errors.Is(err, event.ErrDamaged) || errors.As(err, &advised) || strings.Contains(err.Error(), "eventdeck store recover") {
		return err
	}
	return fmt.Errorf("%w; %s", err, recoverAdvice)
}
