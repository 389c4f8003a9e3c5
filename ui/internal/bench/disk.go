//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store"
)

// disk measures whether the store keeps up with a rate on a disk with slower syncs. A commit has
// two syncs.
func disk(args []string) error {
	flags := flag.NewFlagSet("disk", flag.ContinueOnError)
	rate := flags.Int("rate", 20_000, "events a second, submitted one by one")
	span := flags.Duration("for", 8*time.Second, "how long")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "eventdeck-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println(machine())
	for _, slower := range []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond} {
		took, begun, err := onDisk(filepath.Join(dir, slower.String()), slower, *rate, *span)
		if err != nil {
			return err
		}
		fmt.Printf("each sync slower by %v: %s events/s of %s, submit to commit p50 %v, p99 %v\n", slower,
			thousands(int(float64(len(took))/begun.Seconds())), thousands(*rate), round(quantile(took, 0.5)), round(quantile(took, 0.99)))
	}
	return nil
}

// onDisk submits events at a rate and returns the time until each was stored, and the time for all.
func onDisk(dir string, slower time.Duration, rate int, span time.Duration) (took []time.Duration, all time.Duration, err error) {
	l, err := openLoader(dir, true, store.Hooks{BeforeCommit: func() { time.Sleep(2 * slower) }})
	if err != nil {
		return nil, 0, err
	}
	key := event.Key{Server: "bench", Type: trust.Untrusted(loadType), Args: []byte("{}")}
	p := &pace{rate: rate}
	p.start()
	began := time.Now()
	for sent := 0; time.Since(began) < span; time.Sleep(time.Millisecond) {
		for ; sent < p.due(); sent++ {
			due := began.Add(time.Duration(float64(sent) / float64(rate) * float64(time.Second))) // not when the queue had room
			batch := event.Batch{Sub: key.ID(), Records: []event.Record{record(key, sent, due)}}
			if err := l.add(batch, func() { took = append(took, time.Since(due)) }); err != nil {
				return nil, 0, errors.Join(err, l.close())
			}
		}
	}
	err = l.close()
	return took, time.Since(began), err
}
