package seal

import (
	"context"
	"errors"
	"time"
)

// Errors that a [Keyring] reports besides its own.
var (
	// ErrNoKeyring: no keyring service can be reached from this process.
	ErrNoKeyring = errors.New("no keyring can be reached")
	// ErrRingLocked: the keyring waits for its password.
	ErrRingLocked = errors.New("the keyring is locked")
	// ErrNoKey: the keyring works and has no such entry.
	ErrNoKey = errors.New("the keyring of this session does not have the key")

	errSilent = errors.New("the keyring did not answer")
)

// Keyring keeps small secrets outside of the store. Its calls start no process, ask no person
// but for Unlock, and return when the context ends.
type Keyring interface {
	// Get returns a secret. Errors: ErrNoKeyring, ErrRingLocked, ErrNoKey, others.
	Get(ctx context.Context, service, account string) (string, error)
	// Set keeps a secret. Errors: ErrNoKeyring, ErrRingLocked, others.
	Set(ctx context.Context, service, account, secret string) error
	// Delete removes a secret. Errors: those of Get.
	Delete(ctx context.Context, service, account string) error
	// Unlock shows the prompt of a locked keyring that has the secret, or would get it, and
	// waits for its end. Errors: ErrNoKeyring, ErrRingLocked if the operator refused, others.
	Unlock(ctx context.Context, service, account string) error
}

// SystemKeyring returns the keyring of the user's session.
func SystemKeyring() Keyring { return systemKeyring{} }

// leaveWithin is the time that a call has to end in good order after its context did.
const leaveWithin = 100 * time.Millisecond

// bounded calls fn, and returns when it does, or soon after ctx ends. A call that never returns
// leaves its goroutine behind: not every system's keyring can be interrupted.
func bounded(ctx context.Context, fn func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, err := fn()
		answered <- answer{text, err}
	}()
	var late <-chan time.Time
	for done := ctx.Done(); ; {
		select {
		case a := <-answered:
			if a.err != nil && ctx.Err() != nil {
				return "", context.Cause(ctx) // which is why it failed
			}
			return a.text, a.err
		case <-done:
			done, late = nil, time.After(leaveWithin)
		case <-late:
			return "", context.Cause(ctx)
		}
	}
}

// NoKeyring returns a keyring that reports ErrNoKeyring, so that the key is kept in a file. It
// is for tests and for systems whose keyring must not be asked.
func NoKeyring() Keyring { return noKeyring{} }

type noKeyring struct{}

func (noKeyring) Get(context.Context, string, string) (string, error) { return "", ErrNoKeyring }
func (noKeyring) Set(context.Context, string, string, string) error   { return ErrNoKeyring }
func (noKeyring) Delete(context.Context, string, string) error        { return ErrNoKeyring }
func (noKeyring) Unlock(context.Context, string, string) error        { return ErrNoKeyring }
