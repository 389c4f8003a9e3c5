package eventlog

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"eventdeck/host/event"
)

// Bounds of a search. Its first blocks are small, so that the newest hits come at
// once.
const (
	firstBlock    = 512
	maxBlock      = 8 << 10
	searchWorkers = 4   // at most; fewer on fewer processors
	askEvery      = 256 // records between two checks whether the search was cancelled
)

// Found is a part of what [Log.Search] found.
type Found struct {
	Seqs     []uint64 // hits, newest first
	Edge     uint64   // everything from here up to where the search began was examined
	Examined uint64   // sequence numbers examined since the search began
	End      bool     // nothing is older
}

// Search examines the log before a record, newest first, and hands what it finds
// to page, part by part, until page returns false or nothing is older. Zero means
// from the newest record. A part without hits shows how far the search has come.
//
// match is called from several goroutines at once. Its record is valid until it returns: it
// must keep nothing of it, and must not call the log. page is called from the caller's
// goroutine and may keep what it gets.
//
// Errors: the cause of ctx, those of the store.
func (l *Log) Search(ctx context.Context, match func(*event.Record) bool, before uint64, page func(Found) bool) error {
	if last := l.store.Last(); before == 0 || before > last+1 {
		before = last + 1
	}
	if before <= 1 {
		page(Found{Edge: before, End: true})
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := search{log: l, match: match, next: before - 1, size: firstBlock}
	workers := max(1, min(runtime.GOMAXPROCS(0), searchWorkers))
	var running []<-chan block
	defer func() {
		cancel(errors.New("the search has ended"))
		for _, r := range running {
			<-r
		}
	}()
	for {
		for len(running) < workers && s.next > 0 {
			running = append(running, s.start(ctx))
		}
		b := <-running[0]
		running = running[1:]
		if b.err != nil {
			return b.err
		}
		s.examined += b.examined
		end := len(running) == 0 && s.next == 0
		if !page(Found{Seqs: b.hits, Edge: b.to, Examined: s.examined, End: end}) || end {
			return nil
		}
	}
}

// search is one run of [Log.Search].
type search struct {
	log      *Log
	match    func(*event.Record) bool
	next     uint64 // newest record of the next block, 0 when there is none
	size     uint64 // of the next block
	examined uint64
}

// block is a part of the log that was examined.
type block struct {
	to       uint64
	hits     []uint64
	examined uint64
	err      error
}

// start examines the next block. It ends by itself, soon after ctx.
func (s *search) start(ctx context.Context) <-chan block {
	from, to := s.next, uint64(1)
	if s.next > s.size {
		to = s.next - s.size + 1
	}
	s.next = to - 1
	s.size = min(2*s.size, maxBlock)
	done := make(chan block, 1)
	go func() {
		b := block{to: to, examined: from - to + 1}
		n := 0
		b.err = s.log.store.Scan(to, from, func(r *event.Record) bool {
			n++
			if s.match(r) {
				b.hits = append(b.hits, r.Seq)
			}
			return n%askEvery != 0 || ctx.Err() == nil
		})
		slices.Reverse(b.hits)
		if b.err == nil && ctx.Err() != nil {
			b.err = context.Cause(ctx)
		}
		done <- b
	}()
	return done
}
