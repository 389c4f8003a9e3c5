//go:build race

package trust

// raceDetector: the tests run under the race detector.
const raceDetector = true
