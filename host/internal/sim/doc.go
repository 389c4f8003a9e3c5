// Package sim is a simulated world that tests the host: a model server with a known
// history, a network that harms connections, a failing disk, a process that dies at any
// time, and a checker of the host's promises:
//
//   - every event that the server could replay is stored, and so are skipped ones
//     if the host can get them in another way;
//   - no event is stored twice, or without having been sent;
//   - every lost event is covered by a gap record;
//   - a stored cursor is never ahead of the stored events, and nothing is
//     acknowledged before it is stored;
//   - no subscription is shown as live when nothing has come for long, or when every
//     delivery was refused.
//
// The host and its store are the real ones. A world runs in a bubble of testing/synctest,
// where minutes pass in milliseconds, and draws everything from one seed: the same seed
// gives the same run, as long as goroutines run in the same order.
//
// A [Kind] selects what a world tests. Faults (fault.go) come and go, deviations
// (deviation.go) stay.
package sim
