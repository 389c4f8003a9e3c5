package react

import (
	"context"
	"errors"

	"eventdeck/host/event"
)

// Errors of a [Runner].
var (
	// ErrBoundary: the rule demands a confinement that cannot be had on this machine;
	// the text says which part, and what can be done.
	ErrBoundary = errors.New("confinement not possible")
	// ErrProgram: the program of a command is not there, cannot be run, or is not the
	// one that was approved.
	ErrProgram = errors.New("program")
	// ErrTarget: the address of a webhook may not be used; the text says why.
	ErrTarget = errors.New("webhook address")
	// ErrSecretMissing: the secret of a webhook is not set.
	ErrSecretMissing = errors.New("secret not set")
)

// Runner carries out acts. Package act implements it; the engine alone calls it. Its
// methods may be called from any goroutine.
type Runner interface {
	// Prepare returns the exact request of a run: what would be done with these members,
	// and nothing is begun. The same arguments give the same request while program and
	// machine stay as they are. Without members it serves [Rule.Hash]: it asks no server
	// then, and pins no tools.
	// Errors: ErrBoundary, ErrProgram, ErrTarget, ErrSecretMissing.
	Prepare(rule Rule, run Run, members []event.Record) (Request, error)
	// Ready makes everything ready so that only [Attempt.Go] is left, e.g. a supervisor
	// that waits to be told to start.
	// Errors: those of Prepare; what was approved and is no longer so is an error.
	Ready(ctx context.Context, r Request, attempt int) (Attempt, error)
	// Adopt finds what became of an attempt of an earlier process.
	Adopt(ctx context.Context, r Request, h Handle) (Attempt, error)
	// Forget removes what an attempt left on the disk, after its result was stored.
	Forget(h Handle) error
}

// Pinner is a [Runner] whose acts call tools.
type Pinner interface {
	// Pin returns the tools of a rule as their servers describe them now, without those that
	// cannot be had. The engine keeps them with the rule when it is armed, and hands them to
	// Prepare in [Run.Pins].
	Pin(ctx context.Context, rule Rule) []Pinned
}

// Attempt is one try of an act.
type Attempt interface {
	// Handle is to be stored before Go is called.
	Handle() Handle
	// Go begins the act; one of several steps has each of them pass through steps.
	// Error: it is certain that nothing was begun.
	Go(steps Steps) error
	// Abort ends an attempt that was not begun; it will never begin.
	Abort()
	// Wait returns the result when there is one. Error: the cause of ctx; the attempt
	// goes on.
	Wait(ctx context.Context) (Result, error)
	// Kill ends what runs: a command with all that it started. Wait returns the result.
	Kill()
}
