package engine

import (
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// interest is what the engine has not read yet of the log: a range, however many records
// were stored, so that a burst costs ingest nothing but a look at each record's type. A
// commit without a type that a rule listens to is never read at all.
type interest struct {
	mu       sync.Mutex
	types    map[source]bool
	seen     uint64 // newest record that was looked at
	from, to uint64 // to be read; 0: nothing

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

// see looks at what was committed and reports whether some of it is of interest.
func (i *interest) see(records []event.Record) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	found := false
	for n := range records {
		r := &records[n]
		if r.Sub == "" || r.Sub != i.last {
			i.last, i.was = r.Sub, i.types[source{r.Server, r.Type.Raw()}]
		}
		if i.was {
			found = true
			i.want(r.Seq, r.Seq)
		}
		i.seen = max(i.seen, r.Seq)
	}
	return found
}

// add makes a range be read in any case.
func (i *interest) add(from, to uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.seen = max(i.seen, to)
	if from <= to {
		i.want(from, to)
	}
}

func (i *interest) want(from, to uint64) {
	if i.to == 0 || from < i.from {
		i.from = from
	}
	i.to = max(i.to, to)
}

// next returns what is to be read; from is 0 if there is nothing, and all up to seen needs
// no decision.
func (i *interest) next() (from, to, seen uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.to == 0 {
		return 0, 0, i.seen
	}
	return i.from, i.to, i.seen
}

// newest returns the newest record that was looked at.
func (i *interest) newest() uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.seen
}

// done notes that everything up to a record was read.
func (i *interest) done(upTo uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if upTo >= i.to {
		i.from, i.to = 0, 0
	} else {
		i.from = max(i.from, upTo+1)
	}
}
