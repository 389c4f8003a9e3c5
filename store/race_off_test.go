//go:build !race

package store

// raceDetector: the tests run under the race detector.
const raceDetector = false
