package react

import (
	"context"
	"errors"

	"eventdeck/host/event"
)

// Errors of a [Runner].
var (
	// ErrBoundary: the confinement that the rule demands is not possible on this machine; the
	// text says which part, and what can be done.
	ErrBoundary = errors.New("confinement not possible")
	// ErrProgram: the program of a command does not exist, cannot be run, can be changed by
	// another user, or is not the one that was approved. The same for its interpreters and code.
	ErrProgram = errors.New("program")
	// ErrScarce: room on the disk, memory, processes or descriptors are used up now. The same
	// may work later, and is no failure of the rule.
	ErrScarce = errors.New("used up")
	// ErrTarget: the address of a webhook may not be used; the text says why.
	ErrTarget = errors.New("webhook address")
	// ErrSecretMissing: the secret of a webhook is not set.
	ErrSecretMissing = errors.New("secret not set")
)

// Runner carries out acts. Package act implements it; the engine alone calls it. Its
// methods may be called from any goroutine.
type Runner interface {
	// Prepare returns the exact request of a run with these members, and begins nothing. The
	// same arguments give the same request while program and machine stay the same. Without
	// members the request is for [Rule.Hash]: no server is asked, and no tools are pinned.
	// Errors: ErrBoundary, ErrProgram, ErrScarce, ErrTarget, ErrSecretMissing.
	Prepare(rule Rule, run Run, members []event.Record) (Request, error)
	// Ready prepares an attempt so that only [Attempt.Go] is left, e.g. it starts a supervisor
	// that waits for the order to begin.
	// Errors: those of Prepare, also where something changed since the approval.
	Ready(ctx context.Context, r Request, attempt int) (Attempt, error)
	// Adopt takes over an attempt of an earlier process, running or over.
	Adopt(ctx context.Context, r Request, h Handle) (Attempt, error)
	// Forget removes the files of an attempt, after its result was stored.
	Forget(h Handle) error
}

// Pinner is a [Runner] whose acts call tools.
type Pinner interface {
	// Pin returns the tools of a rule as their servers describe them now, without those that
	// are not available. The engine stores them with the armed rule, and hands them to Prepare
	// in [Run.Pins].
	Pin(ctx context.Context, rule Rule) []Pinned
}

// Attempt is one try of an act.
type Attempt interface {
	// Handle returns what must be stored before Go is called.
	Handle() Handle
	// Go begins the act. An act of several steps passes each of them through steps.
	// Error: nothing was begun, for certain.
	Go(steps Steps) error
	// Abort ends an attempt before Go; it will never begin.
	Abort()
	// Wait waits for the result. Error: the cause of ctx; the attempt goes on.
	Wait(ctx context.Context) (Result, error)
	// Kill ends the act: a command with all processes that it started. Wait returns the result.
	Kill()
}
