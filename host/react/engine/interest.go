package engine

import (
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Bounds of the committed records that wait in memory for a decision. Most of them are in the
// recent window of the log anyway.
const (
	handedRecords = 8192
	handedBytes   = 8 << 20
)

// interest holds what is not decided yet: a range of the log to read, and after it the records
// of later commits in memory. When these become too many, they are read from the log too.
// Commits without a type that a rule listens to are skipped.
type interest struct {
	mu       sync.Mutex
	set      *react.Set
	servers  map[string]bool // that rules listen to
	seen     uint64          // newest committed record
	from, to uint64          // range to read; 0: none

	handed [][]event.Record // commits after to, in order; none is empty
	count  int              // records in handed
	bytes  int              // of payloads in handed

	last event.SubID // subscription of the previous record
	was  bool        // whether a rule listens to it
}

// listen replaces the rules.
func (i *interest) listen(set *react.Set) {
	servers := map[string]bool{}
	for _, r := range set.File.Rules {
		servers[r.On.Server] = true
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.set, i.servers, i.last, i.was = set, servers, "", false
}

// wants reports whether a rule may listen to the subscription of a record. Of a subscription whose
// events have names of their own, and of its gaps, a rule may always want some.
func (i *interest) wants(r *event.Record) bool {
	if r.Sub == "" || r.Sub != i.last {
		i.last, i.was = r.Sub, i.set != nil && i.servers[r.Server] && i.set.Hears(&event.Record{Server: r.Server, Type: r.Type})
	}
	return i.was || (r.Kind != event.KindEvent || r.Name() != r.Type) && i.servers[r.Server]
}

// see takes the records of a commit, which are not changed any more, and reports whether a rule
// listens to some of them.
func (i *interest) see(records []event.Record) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	first, end := -1, 0
	for n := range records {
		r := &records[n]
		if i.wants(r) {
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

// hand keeps records in memory, unless these would be too many or others must be read from the
// log before them.
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

// spill drops the records in memory; they are read from the log instead.
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

// add adds a range to read from the log.
func (i *interest) add(from, to uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.seen = max(i.seen, to)
	if from <= to {
		i.spill()
		i.want(from, to)
	}
}

// drop forgets everything that is not decided.
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

// next returns what to decide next: a range to read, or, if from is 0, records in memory. If
// there are none, nothing up to seen needs a decision.
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

// waits reports whether anything is not decided.
func (i *interest) waits() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.to != 0 || len(i.handed) > 0
}

// newest returns the newest committed record.
func (i *interest) newest() uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.seen
}

// done removes everything up to a decided record.
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
