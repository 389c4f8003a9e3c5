package boltfile

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Guard runs fn and turns its panics into [ErrDamaged]: bbolt panics on pages
// that make no sense, and reading a mapped file that was cut short is a memory
// fault, which only this setting makes a panic. A panic while outside reports
// true is not about the file and goes on.
//
// A write that ended so leaves locks of bbolt behind: nothing may be asked of its
// database after that, not even to close.
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
