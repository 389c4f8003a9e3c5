package attach

import (
	"context"
	"errors"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/react"
)

// failure is an error as it is sent to another process.
type failure struct {
	Text   string
	Kinds  []string // names of the errors that it wraps
	Reason event.Reason
}

type kind struct {
	name string
	err  error
}

// kinds returns the errors that a frontend tells apart.
func kinds() []kind {
	return []kind{
		{"not-found", event.ErrNotFound}, {"closed", event.ErrClosed}, {"full", event.ErrFull}, {"locked", event.ErrKeyLocked},
		{"damaged", event.ErrDamaged}, {"secret", event.ErrSecret},
		{"unknown-server", host.ErrUnknownServer}, {"unknown-type", host.ErrUnknownType},
		{"mode", host.ErrMode}, {"arguments", host.ErrArguments}, {"no-events", host.ErrNoEvents},
		{"refused", host.ErrRefused}, {"unreachable", host.ErrUnreachable}, {"stopped", host.ErrStopped}, {"unconfirmed", host.ErrUnconfirmed},
		{"sign-in", host.ErrSignIn}, {"no-sign-in", host.ErrNoSignIn}, {"in-use", host.ErrInUse}, {"limit", host.ErrLimit},
		{"setting", host.ErrSetting}, {"rotating", delivery.ErrRotating}, {"no-preview", dialect.ErrNoPreview},
		{"no-rule", react.ErrNoRule}, {"no-model", react.ErrNoModel}, {"no-run", react.ErrNoRun}, {"state", react.ErrState}, {"source", react.ErrSource}, {"changed", react.ErrChanged}, {"wishes", react.ErrClientRequests},
		{"not-engine", react.ErrNotEngine}, {"token", react.ErrToken}, {"boundary", react.ErrBoundary},
		{"program", react.ErrProgram}, {"target", react.ErrTarget}, {"no-secret", react.ErrSecretMissing},
		{"step-refused", react.ErrRefusedStep}, {"no-budget", react.ErrBudget}, {"reactions-stopped", react.ErrStopped}, {"no-gate", react.ErrNoGate},
		{"not-here", ErrNotHere}, {"prints", ErrPrints}, {"busy", ErrBusy},
		{"canceled", context.Canceled}, {"late", context.DeadlineExceeded},
	}
}

// failed returns err as it is sent, nil for nil.
func failed(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error(), Reason: host.ReasonOf(err)}
	for _, k := range kinds() {
		if errors.Is(err, k.err) {
			f.Kinds = append(f.Kinds, k.name)
		}
	}
	return f
}

// err returns the error that was sent, nil for nil.
func (f *failure) err() error {
	if f == nil {
		return nil
	}
	out := &remoteError{text: f.Text, reason: f.Reason}
	for _, k := range kinds() {
		for _, name := range f.Kinds {
			if name == k.name {
				out.is = append(out.is, k.err)
			}
		}
	}
	return out
}

// remoteError is an error of the owner.
type remoteError struct {
	text   string
	is     []error
	reason event.Reason
}

func (e *remoteError) Error() string   { return e.text }
func (e *remoteError) Unwrap() []error { return e.is }

// Reason is what [host.ReasonOf] returned for the error in the owner.
func (e *remoteError) Reason() event.Reason { return e.reason }
