package program

import (
	"context"
	"errors"
	"testing"

	"eventdeck/host/event"
)

// endless is a store whose reads last until it is closed.
type endless struct {
	event.Store
	closed chan struct{}
}

func (e *endless) Forward(uint64, func(event.Record) bool) error {
	<-e.closed
	return event.ErrClosed
}

func (e *endless) Servers() []event.ServerSeen { return nil }

func (e *endless) Close() error {
	close(e.closed)
	return nil
}

// A signal ends a command that reads, however long the read lasts.
func TestReadsEndWithTheCommand(t *testing.T) {
	ctx, signal := context.WithCancel(t.Context())
	s := &endless{closed: make(chan struct{})}
	a := &App{Program: Program{
		OpenStore: func(context.Context, StoreOptions) (event.Store, error) { return s, nil },
		Env:       func(string) (string, bool) { return "", false }, Home: t.TempDir(),
	}}
	a.Flags.Data = t.TempDir()
	err := a.Reading(ctx, func(store event.Store) error {
		signal()
		return store.Forward(1, nil)
	})
	if !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
}
