package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// maxRemembered is how many conversations are stored; the oldest are removed.
const maxRemembered = 1000

// conversation is what is stored of a conversation, so that it can be continued.
type conversation struct {
	Session trust.Text  `json:"session"`
	Loads   bool        `json:"loads"` // the agent can load it
	Act     string      `json:"act"`   // hash of the act that began it: another act begins another
	Run     react.RunID `json:"run"`   // run that used it last
	Over    bool        `json:"over"`  // the outcome of that run is known
}

// cutOff reports whether the conversation was interrupted in this run.
func (c *conversation) cutOff(req react.Request) bool { return c.Run == req.Run && !c.Over }

// place returns the directory of stored conversations.
func (r *Runner) place() string { return filepath.Join(r.o.Dir, "agents") }

// conversationOf returns the name of a run's conversation: that of its rule, or its own.
func conversationOf(req react.Request) string {
	if req.Keep {
		return "rule-" + req.Rule
	}
	return "run-" + string(req.Run)
}

func (r *Runner) file(req react.Request) string {
	return filepath.Join(r.place(), conversationOf(req)+".json")
}

// recall reads the stored conversation of a run. An invalid file counts as none.
func (r *Runner) recall(req react.Request) (c conversation, ok bool) {
	text, err := os.ReadFile(r.file(req))
	ok = err == nil && json.Unmarshal(text, &c) == nil && !c.Session.IsZero()
	return c, ok
}

// remember stores the conversation of a run.
func (r *Runner) remember(req react.Request, c conversation) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := r.makeRoom(); err != nil {
		return err
	}
	f, err := os.CreateTemp(r.place(), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), r.file(req))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("remember the conversation: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// settled stores that the outcome of a run is known.
func (r *Runner) settled(req react.Request) error {
	c, ok := r.recall(req)
	switch {
	case !ok || c.Run != req.Run:
		return nil
	case !req.Keep:
		return os.Remove(r.file(req))
	}
	c.Over = true
	return r.remember(req, c)
}

// makeRoom removes the oldest conversations if there are too many.
func (r *Runner) makeRoom() error {
	all, err := os.ReadDir(r.place())
	if err != nil || len(all) < maxRemembered {
		return err
	}
	age := func(e fs.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0 // it is gone
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return int(min(max(age(a)-age(b), -1), 1)) })
	for _, e := range all[:len(all)-maxRemembered+1] {
		if err := os.Remove(filepath.Join(r.place(), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// take waits until no other run uses the conversation. Error: the cause of ctx.
func (r *Runner) take(ctx context.Context, req react.Request) (release func(), err error) {
	name := conversationOf(req)
	for {
		r.mu.Lock()
		other := r.busy[name]
		if other == nil {
			mine := make(chan struct{})
			r.busy[name] = mine
			r.mu.Unlock()
			return func() {
				r.mu.Lock()
				delete(r.busy, name)
				r.mu.Unlock()
				close(mine)
			}, nil
		}
		r.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
