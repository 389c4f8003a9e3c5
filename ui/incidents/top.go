package incidents

import (
	"context"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/filter"
)

// Count counts the values at a path in the matching events of the whole log. progress, which may be
// nil, gets the number of examined records, and stops the count by returning false.
//
// Errors: the cause of ctx, those of the store.
func Count(ctx context.Context, log eventlog.Records, match func(*event.Record) bool, path *filter.Path, progress func(examined uint64) bool) (*Tally, error) {
	var mu sync.Mutex
	t := &Tally{}
	err := log.Search(ctx, func(r *event.Record) bool {
		if r.Kind != event.KindEvent || !match(r) {
			return false
		}
		value, ok := path.Text(r.Data)
		mu.Lock()
		t.Add(value, ok)
		mu.Unlock()
		return false // the search needs not collect the record
	}, 0, func(f eventlog.Found) bool { return progress == nil || progress(f.Examined) })
	return t, err
}
