//go:build linux

// Command bench measures the host.
//
//	go run -C ui/internal/bench . fill DIR [EVENTS]
//
// makes a store with EVENTS events (default 1,000,000) of 600 bytes, of five types of one server,
// over the last day.
//
//	go run -C ui/internal/bench . ingest [-mode push|poll] [-streams 50] [-rate 0] [-for 1m] [-paced 90000] [-retention] [-rules 0]
//
// runs the host with its screen on a pseudo-terminal, feeds it events of 600 bytes as fast as it
// accepts them, and counts the stored ones; then it feeds them at a pace, to measure the delay from
// emit to receipt. The store is unbounded, unless -retention is given: then pruned events are
// counted by their sequence numbers.
//
//	go run -C ui/internal/bench . webhook [-conns 64] [-subs 50] [-for 10s]
//
// measures webhook deliveries over TLS, each answered after its commit: at full speed,
// at 1,000 a second, and at 1,000 a second beside 5,000 bad requests.
//
//	go run -C ui/internal/bench . compare [-rates 1000,20000] [-for 10s] [-repeat 3] [-only NAMES]
//
// feeds the same events to the host, to a trivial Bubble Tea program, and to the programs of Debian
// that are installed (mitmproxy, lnav, less, multitail, redis-tools, curl, jq, tail), in turns, and
// prints the results as a table.
//
//	go run -C ui/internal/bench . start [-streams 200] DIR
//
// measures with a store that fill made: the time to the first frame, also when the file is not
// cached, CPU and memory while idle, and the time until subscriptions, which it adds to the store,
// are open again.
//
//	go run -C ui/internal/bench . subs [-n 1000]
//
// measures the memory of an idle push subscription, over HTTP/2, HTTP/1.1 and stdio.
//
//	go run -C ui/internal/bench . curves [-most 10000000]
//
// measures the cost of a commit, a key and a search in stores of 10,000 to 10,000,000 events, which
// it makes and removes (10 GB).
//
//	go run -C ui/internal/bench . disk [-rate 20000]
//
// measures whether the store keeps up with a rate when each sync of the disk takes 5 ms, and 20 ms,
// longer.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measures are the commands, by the first argument.
var measures = map[string]func(args []string) error{
	"fill": fillStore, "ingest": ingest, "webhook": webhook, "compare": compare, "start": start, "subs": subs, "curves": curves, "disk": disk,
	webhookSender: webhookSend, pipeFeeder: pipeFeed,
}

func run(args []string) error {
	if len(args) > 0 && measures[args[0]] != nil {
		return measures[args[0]](args[1:])
	}
	return errors.New("usage: go run -C ui/internal/bench . fill DIR [EVENTS] | compare [FLAGS] | curves [FLAGS] | disk [FLAGS] | ingest [FLAGS] | start [FLAGS] DIR | subs [FLAGS] | webhook [FLAGS]")
}
