package edges

import (
	"eventdeck/host"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/timeline"
	"eventdeck/ui/tui/tree"
)

// Env is what the lines above and below the panes need.
type Env struct {
	*cells.Env
	Demo      bool
	Snap      *host.Snapshot
	Stream    *stream.Stream
	Rates     *timeline.Rates
	Total     *tree.Totals
	Servers   func() []*host.ServerView // in the order of the tree
	Searched  func() string             // the text of the search
	Comparing func() uint64             // the first of two records to compare, 0 for none
	Writing   func() external.Running
	KeyOf     func(action string) string
	// Chips draws what must stay visible beside every text; Changes is different whenever Chips
	// draws something else. Nil: there is nothing.
	Chips   func(c *cells.Canvas)
	Changes func() uint64
}
