package store

import (
	"reflect"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/tables"
)

// signsEvery is how often signs of life are committed, those of all subscriptions at once.
const signsEvery = 30 * time.Second

// signs are the subscriptions that were heard of since the last commit of them: in memory, where
// readers find it, and not yet in the file. The writer's goroutine alone uses it.
type signs struct {
	subs  map[event.SubID]bool
	since time.Time
}

// due returns when the signs are to be committed, zero if there are none.
func (g *signs) due() time.Time {
	if len(g.subs) == 0 {
		return time.Time{}
	}
	return g.since.Add(signsEvery)
}

// areDue reports whether the signs are to be committed now.
func (g *signs) areDue() bool { return len(g.subs) > 0 && !time.Now().Before(g.due()) }

// subChange is what a batch makes of its subscription. The code of the batch is called once.
type subChange struct {
	sub     *tables.KeptSub // nil: nothing is changed
	did     tables.SubChange
	decided bool
	err     error
}

// takeSigns answers the batches that are signs of life, and returns the others. While commits fail
// there are none: each batch shows whether the store can be written again.
func (s *Store) takeSigns(jobs []*job) []*job {
	if s.lastErr() != nil || s.failed() != nil {
		return jobs
	}
	touched := map[event.SubID]bool{} // by a batch of this commit
	return slices.DeleteFunc(jobs, func(j *job) bool {
		sub := j.batch.Sub
		if !touched[sub] && s.isSign(j) {
			if j.done != nil {
				j.done(event.Outcome{}, nil)
			}
			return true
		}
		touched[sub] = true
		return false
	})
}

// isSign reports whether a batch tells no more than that its subscription, which was heard of
// before, lives and is complete until some moment, and notes that.
func (s *Store) isSign(j *job) bool {
	b := &j.batch
	if b.Sub == "" || b.Cursor == nil && b.Update == nil || len(j.entries) > 0 || b.Remove || len(b.Audit) > 0 || len(b.Ended) > 0 {
		return false
	}
	before, known := s.subs.get(b.Sub)
	c := commit{store: s, subs: map[event.SubID]*tables.KeptSub{}}
	did, err := c.subscription(b)
	j.changed = &subChange{c.subs[b.Sub], did, c.decided, err}
	if err != nil || !known || before.Sub.LastSeen.IsZero() || c.subs[b.Sub] == nil {
		return false
	}
	after := *c.subs[b.Sub]
	before.Sub.LastSeen, before.Sub.CompleteUntil = after.Sub.LastSeen, after.Sub.CompleteUntil
	if !reflect.DeepEqual(before, after) {
		return false
	}
	s.subs.publish(c.subs)
	if s.signs.subs == nil {
		s.signs.subs = map[event.SubID]bool{}
	}
	if len(s.signs.subs) == 0 {
		s.signs.since = time.Now()
	}
	s.signs.subs[b.Sub] = true
	return true
}

// putSigns adds the signs that are due, or at the end all, to a commit.
func (c *commit) putSigns(all bool) {
	if !all && !c.store.signs.areDue() {
		return
	}
	for id := range c.store.signs.subs {
		if _, changed := c.subs[id]; changed {
			continue
		}
		if kept, known := c.store.subs.get(id); known {
			c.subs[id] = &kept
		}
	}
}

// noteCommitted forgets the signs that a commit has stored. After one that failed they wait again.
func (g *signs) noteCommitted(subs map[event.SubID]*tables.KeptSub, failed bool) {
	if failed {
		g.since = time.Now()
		return
	}
	for id := range subs {
		delete(g.subs, id)
	}
}
