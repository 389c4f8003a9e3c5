package engine

import (
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Bounds of the committed records that wait in memory to be decided. Most of them are in
// the recent window of the log anyway.
const (
	handedRecords = 8192
	handedBytes   = 8 << 20
)

// interest is what the engine has not decided yet: a range of the log that it is to read,
// and behind that the records of later commits as they are. What does not fit is read when
// it is its turn. A commit without a type that a rule listens to is neither.
type interest struct {
	mu       sync.Mutex
	types    map[source]bool
	seen     uint64 // newest record that was looked at
	from, to uint64 // to be read; 0: nothing

	handed [][]event.Record // behind to, in order; none is empty
	count  int              // of these records
	bytes  int

	last event.SubID // of the record before, whose answer is was
	was  bool
}

// source is what rules are found by.
type source struct{ server, typ string }

// listen replaces what is of interest.
func (i *interest) listen(f *react.File) {
	types := map[source]bool{}
	for _, r := range f.Rules {
		types[source{r.On.Server, r.On.Type}] = true
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.types, i.last, i.was = types, "", false
}

// see takes up what was committed, which is not changed any more, and reports whether some
// of it is of interest.
func (i *interest) see(records []event.Record) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	first, end := -1, 0
	for n := range records {
		r := &records[n]
		if r.Sub == "" || r.Sub != i.last {
			i.last, i.was = r.Sub, i.types[source{r.Server, r.Type.Raw()}]
		}
		if i.was {
			if end = n + 1; first < 0 {
				first = n
			}
		}
		i.seen = max(i.seen, r.Seq)
	}
	if first < 0 {
		return false
	}
	i.hand(records[first:end])
	return true
}

// hand has records decided as they are, unless there are too many or others are to be read
// before them.
func (i *interest) hand(records []event.Record) {
	bytes := weigh(records)
	if i.to == 0 && i.count+len(records) <= handedRecords && i.bytes+bytes <= handedBytes {
		i.handed = append(i.handed, records)
		i.count, i.bytes = i.count+len(records), i.bytes+bytes
		return
	}
	i.spill()
	i.want(records[0].Seq, records[len(records)-1].Seq)
}

// spill has the records that wait read from the log.
func (i *interest) spill() {
	for _, records := range i.handed {
		i.want(records[0].Seq, records[len(records)-1].Seq)
	}
	i.handed, i.count, i.bytes = nil, 0, 0
}

func weigh(records []event.Record) (bytes int) {
	for n := range records {
		bytes += max(len(records[n].Raw), len(records[n].Data))
	}
	return bytes
}

// add makes a range be read in any case.
func (i *interest) add(from, to uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.seen = max(i.seen, to)
	if from <= to {
		i.spill()
		i.want(from, to)
	}
}

// drop forgets what is to be decided.
func (i *interest) drop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.from, i.to, i.handed, i.count, i.bytes = 0, 0, nil, 0, 0
}

func (i *interest) want(from, to uint64) {
	if i.to == 0 || from < i.from {
		i.from = from
	}
	i.to = max(i.to, to)
}

// next returns what is to be decided first: a range that is to be read, or if from is 0
// records. If there are none of these either, all up to seen needs no decision.
func (i *interest) next() (from, to uint64, records []event.Record, seen uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.to != 0:
		return i.from, i.to, nil, i.seen
	case len(i.handed) > 0:
		return 0, 0, i.handed[0], i.seen
	}
	return 0, 0, nil, i.seen
}

// waits reports whether there is anything to be decided.
func (i *interest) waits() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.to != 0 || len(i.handed) > 0
}

// newest returns the newest record that was looked at.
func (i *interest) newest() uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.seen
}

// done notes that everything up to a record was decided.
func (i *interest) done(upTo uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if upTo >= i.to {
		i.from, i.to = 0, 0
	} else {
		i.from = max(i.from, upTo+1)
	}
	for len(i.handed) > 0 && i.handed[0][0].Seq <= upTo {
		records := i.handed[0]
		n := min(len(records), int(upTo-records[0].Seq)+1) // a commit has no holes
		i.count, i.bytes = i.count-n, i.bytes-weigh(records[:n])
		if records = records[n:]; len(records) > 0 {
			i.handed[0] = records
			return
		}
		i.handed[0] = nil
		i.handed = i.handed[1:]
	}
	if len(i.handed) == 0 {
		i.handed = nil
	}
}
