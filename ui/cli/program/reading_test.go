package program

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
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

// A file of --output that could not be written whole says so by its name and in a line, whatever
// ended the command.
func TestPartialOutputSaysSo(t *testing.T) {
	var said bytes.Buffer
	a := &App{Program: Program{Stderr: &said}}
	file := filepath.Join(t.TempDir(), "day.csv")
	err := a.WriteTo(t.Context(), file, func(out io.Writer) error {
		_, err := io.WriteString(out, "half")
		return errors.Join(err, ErrStopped)
	})
	if !errors.Is(err, ErrStopped) || !strings.Contains(said.String(), file+".incomplete") {
		t.Errorf("%v, said %q", err, said.String())
	}
	if text, err := os.ReadFile(file + ".incomplete"); err != nil || string(text) != "half" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the partial file has the name of a whole one")
	}
	if err := os.WriteFile(file, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.WriteTo(t.Context(), file, nil); err == nil {
		t.Error("a file that is there was overwritten")
	}
	if text, _ := os.ReadFile(file); string(text) != "theirs" {
		t.Errorf("it became %q", text)
	}
}
