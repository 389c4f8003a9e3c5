package tui

import (
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
)

// toggleStreams shows two streams in an arrangement, or one if they already have it.
func (a *app) toggleStreams(way layout.Streams) {
	if a.stream.Two && a.panes.Streams == way {
		a.oneStream()
		a.Tell("one stream; " + a.KeyOf("streams.beside") + " or " + a.KeyOf("streams.under") + " shows a second one")
		return
	}
	if a.panes.Streams = way; !a.stream.Two {
		a.stream.Open()
		a.panes.Last = true
	}
	a.panes.Enter(layout.Stream)
	if a.arranged().Other.Empty() {
		a.Tell("there is room for one stream at a time: " + a.KeyOf("stream") + " shows the other")
	}
}

// oneStream closes the stream without the focus.
func (a *app) oneStream() {
	a.stream.Close()
	a.panes.Streams, a.panes.Last = layout.OneStream, false
}

// switchStream moves the focus to the other of two streams. The tree follows.
func (a *app) switchStream() {
	if !a.stream.Two {
		return
	}
	a.search.Drop()
	a.stream.Switch()
	a.panes.Last = !a.panes.Last
	a.toTree(a.stream.Query.Node)
	a.panes.Enter(layout.Stream)
}

// toTree chooses a node in the tree, or its nearest parent.
func (a *app) toTree(n query.Node) {
	a.tree.Reveal(n)
	a.tree.At = n
	a.tree.Load(&a.snap)
	a.rescope()
	if a.tree.At != n {
		a.persist.Wanted = n // chosen when the tree has it
	}
}

// toStream moves the focus to the stream, or from there to the other of two streams.
func (a *app) toStream() {
	if a.panes.Focus == layout.Stream {
		a.switchStream()
	}
	a.panes.Enter(layout.Stream)
}
