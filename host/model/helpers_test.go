package model_test

import "errors"

// isAll reports whether an error is each of others.
func isAll(err error, others ...error) bool {
	for _, other := range others {
		if !errors.Is(err, other) {
			return false
		}
	}
	return true
}
