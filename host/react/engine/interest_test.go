package engine

import (
	"fmt"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Records that are committed while the engine is busy wait in memory up to a limit; further ones
// are read from the log. Either way each record is decided once and in order.
func TestRecordsThatWaitInMemoryAreBounded(t *testing.T) {
	for _, test := range []struct {
		name            string
		records, length int
		read            bool
	}{
		{"all fit", handedRecords - 10, 10, false},
		{"too many", handedRecords + 10, 10, true},
		{"too long", 600, handedBytes / 500, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				rule := noteRule("note")
				rule.Key, rule.Mode, rule.Wait = []string{".k"}, react.ModeAsk, time.Minute
				w := newWorld(t, rule)
				e := w.opened()
				busy, free := make(chan bool), make(chan bool)
				e.post(func() { close(busy); <-free })
				<-busy
				text := fmt.Sprintf("%0*d", test.length, 0)
				for n := 0; n < test.records; {
					var commit []event.Record
					for range min(600, test.records-n) {
						commit = append(commit, record("pager", "incident", fmt.Sprintf(`{"k":"k","text":%q}`, text)))
					}
					n += len(commit)
					w.submit(commit...)
				}
				e.interest.mu.Lock()
				count, bytes, read := e.interest.count, e.interest.bytes, e.interest.to != 0
				e.interest.mu.Unlock()
				if count > handedRecords || bytes > handedBytes || read != test.read || read == (count > 0) {
					t.Errorf("%d records of %d bytes wait in memory, others to be read: %v", count, bytes, read)
				}
				close(free)
				rest(2 * time.Second)
				if n := e.Reactions().Rules[0].Matched; n != uint64(test.records) {
					t.Errorf("%d records matched, of %d", n, test.records)
				}
				run := only(t, e, react.Gathering)
				if n := run.Members.Count; n != uint64(test.records) {
					t.Errorf("the run has %d members, %d were committed", n, test.records)
				}
				e.interest.mu.Lock()
				defer e.interest.mu.Unlock()
				if i := &e.interest; i.count != 0 || i.bytes != 0 || len(i.handed) != 0 || i.to != 0 {
					t.Errorf("when all is decided, %d records of %d bytes in %d commits wait, up to %d", i.count, i.bytes, len(i.handed), i.to)
				}
			})
		})
	}
}

// A commit is decided in part if a window becomes true in its middle, and adding a range to read
// replaces the records in memory.
func TestInterestGoesOnWhereItWas(t *testing.T) {
	i := &interest{}
	set, err := react.Compile(react.File{Rules: []react.Rule{noteRule("note")}}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	i.listen(set)
	commit := func(from, to uint64, typ string) {
		var records []event.Record
		for seq := from; seq <= to; seq++ {
			r := record("pager", typ, `{}`)
			r.Seq = seq
			records = append(records, r)
		}
		i.see(records)
	}
	next := func(want string) {
		t.Helper()
		from, to, records, seen := i.next()
		got := fmt.Sprintf("read %d-%d, seen %d", from, to, seen)
		if len(records) > 0 {
			got = fmt.Sprintf("take %d-%d, seen %d", records[0].Seq, records[len(records)-1].Seq, seen)
		}
		if got != want {
			t.Errorf("next: %s, want %s", got, want)
		}
	}
	commit(1, 5, "incident")
	commit(6, 7, "other")
	commit(8, 9, "incident")
	next("take 1-5, seen 9")
	i.done(3)
	next("take 4-5, seen 9")
	i.done(5)
	next("take 8-9, seen 9")
	i.add(2, 4)
	next("read 2-9, seen 9")
	commit(10, 12, "incident")
	i.done(6)
	next("read 7-12, seen 12")
	i.done(12)
	next("read 0-0, seen 12")
	commit(13, 13, "incident")
	next("take 13-13, seen 13")
	i.done(13)
	if i.waits() || i.count != 0 || i.bytes != 0 {
		t.Errorf("when all is decided, %d records of %d bytes wait", i.count, i.bytes)
	}
}
