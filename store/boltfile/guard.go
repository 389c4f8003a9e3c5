package boltfile

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Guard runs fn and turns its panics into [ErrDamaged]: bbolt panics on pages that make no
// sense, and reading a mapped file that was cut short is a memory fault, which only this
// setting makes a panic. A panic while outside reports true has nothing to do with the file
// and is not recovered.
//
// A write that panicked leaves locks of bbolt held: its database must not be used after that,
// not even closed.
//
// Errors: [ErrDamaged], those of fn.
func Guard(outside func() bool, fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if outside != nil && outside() {
			return
		}
		switch r := recover().(type) {
		case nil:
		case runtime.Error: // a fault that says nothing to an operator
			err = fmt.Errorf("%w: its pages make no sense (%v)", ErrDamaged, r)
		default:
			err = fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	return fn()
}
