//go:build race

package scan

// raceDetector: the tests run under the race detector.
const raceDetector = true
