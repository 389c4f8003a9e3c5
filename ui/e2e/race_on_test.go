//go:build race

package e2e

// raceDetector: the tests run under the race detector.
const raceDetector = true
