//go:build !linux && !darwin && !windows

package datadir

// BirthTime knows nothing: this system does not tell when files were made.
func BirthTime(string) string { return "" }
