package tui

import (
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
)

// turnStreams shows two streams in a way, or one again if they are shown so.
func (a *app) turnStreams(way layout.Streams) {
	if a.stream.Two && a.panes.Streams == way {
		a.oneStream()
		a.Tell("one stream; " + a.KeyOf("streams.beside") + " or " + a.KeyOf("streams.under") + " shows a second one")
		return
	}
	if a.panes.Streams = way; !a.stream.Two {
		a.stream.Open()
		a.panes.Last = true
	}
	a.enter(layout.Stream)
	if a.arranged().Other.Empty() {
		a.Tell("there is room for one stream at a time: " + a.KeyOf("stream") + " shows the other")
	}
}

func (a *app) canAlign() bool { return a.stream.Two && a.onRecord() }

// oneStream leaves the stream that the keys are about.
func (a *app) oneStream() {
	a.stream.Close()
	a.panes.Streams, a.panes.Last = layout.OneStream, false
}

// otherStream moves the focus to the other one of two streams, and with them the tree.
func (a *app) otherStream() {
	if !a.stream.Two {
		return
	}
	a.search.Drop()
	a.stream.Switch()
	a.panes.Last = !a.panes.Last
	a.toTree(a.stream.Query.Node)
	a.enter(layout.Stream)
}

// toTree chooses the node of the stream in the tree, or what is left above it.
func (a *app) toTree(n query.Node) {
	a.tree.Reveal(n)
	a.tree.At = n
	a.tree.Load(&a.snap)
	a.rescope()
	if a.tree.At != n {
		a.persist.Wanted = n // as soon as there is such a node
	}
}

// toStream moves the focus to the stream, and to the other one if it has them.
func (a *app) toStream() {
	if a.panes.Focus == layout.Stream {
		a.otherStream()
	}
	a.enter(layout.Stream)
}
