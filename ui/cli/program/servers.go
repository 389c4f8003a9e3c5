package program

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
)

// ConnectWithin bounds a first connection to a server.
const ConnectWithin = 10 * time.Second

// RequestWithin bounds one request to a server that has answered before.
const RequestWithin = 30 * time.Second

// Reached waits until the process that has the store open has connected to a server, and
// returns why it has not. If its last attempt failed long ago, it tries again at once. Without
// such a process it returns nil.
//
// Errors: those of [OpenHost.Connect].
func (d *OpenHost) Reached(ctx context.Context, server string) error {
	if d.Client == nil {
		return nil
	}
	_, err := d.Connect(ctx, server)
	if err == nil || !host.Transient(err) {
		return err
	}
	if err := d.Reconnect(server); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, ConnectWithin-time.Second)
	defer cancel()
	if _, failed := d.Connected(limited, server, false); failed == nil {
		return nil
	}
	if ctx.Err() == nil {
		_, err = d.Connect(ctx, server) // it may have another reason by now
	}
	return err
}

// Connect waits for the server's first answer.
//
// Errors: [host.ErrUnreachable], [host.ErrRefused], [host.ErrSignIn] with what to do about it; [ErrStopped].
func (d *OpenHost) Connect(ctx context.Context, server string) (host.ServerView, error) {
	limited, cancel := context.WithTimeout(ctx, ConnectWithin-time.Second)
	defer cancel()
	view, err := d.Connected(limited, server, true)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = fmt.Errorf("%w: %s did not answer within %v", host.ErrUnreachable, plain.Safe(server), ConnectWithin)
	}
	if errors.Is(err, host.ErrSignIn) {
		err = fmt.Errorf("%w; `eventdeck sign-in %s` does it", err, plain.Safe(server))
	} else {
		err = d.Advise(server, err)
	}
	return view, Stopped(ctx, err)
}

// EventTypes lists the event types of a server that has answered.
//
// Errors: those of the host, [ErrStopped].
func (d *OpenHost) EventTypes(ctx context.Context, server string) ([]event.Type, error) {
	limited, cancel := context.WithTimeout(ctx, RequestWithin)
	defer cancel()
	types, err := d.Types(limited, server)
	return types, Stopped(ctx, d.Advise(server, err))
}

// Advise adds to a server's refusal what the operator can do about it. A sign-in is advised only
// where the server asked for one or has one: what it refuses otherwise may be its own account.
func (d *OpenHost) Advise(name string, err error) error {
	if !errors.Is(err, host.ErrRefused) {
		return err
	}
	for _, server := range d.Snapshot().Servers {
		remote := strings.Contains(server.Address, "://") // a process takes no token
		switch {
		case server.Name != name, server.SignIn == "" && !remote:
			continue
		case server.SignIn == "" && !server.SignedIn:
			err = fmt.Errorf("%w; if it asks for a token of yours, give it with --header or in servers.json", err)
			continue
		case server.SignIn != "":
			err = fmt.Errorf("%w; %s", err, server.SignIn)
		}
		err = fmt.Errorf("%w: `eventdeck sign-in %s`", err, plain.Safe(name))
		if remote {
			err = fmt.Errorf("%w, or give a token with --header or in servers.json", err)
		}
	}
	return err
}

// AnnouncedTypes returns the event types of a server that says that it has some.
//
// Errors: [host.ErrNoEvents] and others of the host; [ErrStopped].
func (d *OpenHost) AnnouncedTypes(ctx context.Context, server string) ([]event.Type, error) {
	limited, cancel := context.WithTimeout(ctx, RequestWithin)
	defer cancel()
	types, err := d.Announced(limited, server)
	return types, Stopped(ctx, err)
}

// Stopped returns [ErrStopped] for an error after the operator's interruption, and other
// errors as they are.
func Stopped(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ErrStopped
	}
	return err
}
