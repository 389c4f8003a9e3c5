// Package sim is a simulated world that tests the host: a model server whose history is known,
// a network that harms what it carries, a disk that fails, a process that dies at any
// instant, and a checker that compares the promises of the host with what happened:
//
//   - what the server could replay is stored, and so is what an opening passed over
//     where the host has another way to it;
//   - nothing is stored twice, and nothing that was not sent;
//   - what is gone stands behind a gap record;
//   - a stored cursor is never ahead of the stored events, and nothing is
//     acknowledged before it is stored;
//   - no subscription is shown as live when nothing came for long, or when all that came
//     was refused.
//
// The host and its store are the real ones. A world runs in a bubble of
// testing/synctest, where minutes pass in milliseconds, and draws everything from
// one seed: the same seed does the same, as far as goroutines run in the same order.
//
// A [Kind] says what a world tries; faults (fault.go) come and go in it, deviations
// (deviation.go) stay.
package sim
