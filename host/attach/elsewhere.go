package attach

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"eventdeck/host/event"
)

// openEvery is the interval of attempts to open a session again with an owner elsewhere.
const openEvery = time.Second

// Elsewhere reports whether a data directory has the token of an owner and no store: the store of
// the owner is in another directory, probably of another machine, and the socket is forwarded from
// there. No store may be made in the directory: it would be taken for that of the owner.
func Elsewhere(dir string) bool {
	return dir != "" && exists(filepath.Join(dir, fileToken)) && !exists(filepath.Join(dir, event.StoreFile))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// openAgain opens a session with the owner elsewhere once the connection is there again.
func (c *Client) openAgain() {
	why := error(event.ErrSilent)
	every := time.NewTicker(openEvery)
	defer every.Stop()
	for {
		c.markSilent(fmt.Errorf("%w: the connection to process %d is cut", why, c.PID()))
		select {
		case <-c.ctx.Done():
			return
		case <-every.C:
		}
		before := c.PID()
		if err := c.open(c.ctx); err != nil {
			why = fmt.Errorf("%w: %w", event.ErrSilent, err)
			continue
		}
		c.mu.Lock()
		c.ownChanges += c.version // an owner that was started again counts its states anew
		c.version, c.newer.marks = 0, 0
		clear(c.newer.subs)
		if c.PID() != before {
			c.wireLast, c.appLast = 0, 0
		}
		c.mu.Unlock()
		_ = c.pull(c.ctx, stateRequest{}) // follow tries again
		return
	}
}
