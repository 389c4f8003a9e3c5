package query

import (
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Node names a place in the tree and the part of the stream that belongs to it. The zero node is
// everything.
type Node struct {
	Server string
	Type   trust.Text
	Sub    event.SubID
	Item   string // an item below the servers, such as a mark; its part of the stream is everything
}

// Level returns the depth of a node: 0 everything, 1 server, 2 type, 3 subscription.
func (n Node) Level() int {
	switch {
	case n.Sub != "":
		return 3
	case !n.Type.IsZero():
		return 2
	case n.Server != "":
		return 1
	}
	return 0
}

// Parent returns the node above.
func (n Node) Parent() Node {
	switch n.Level() {
	case 3:
		return Node{Server: n.Server, Type: n.Type}
	case 2:
		return Node{Server: n.Server}
	}
	return Node{}
}

// Holds reports whether a record belongs to the node.
func (n Node) Holds(r *event.Record) bool {
	switch n.Level() {
	case 3:
		return r.Sub == n.Sub
	case 2:
		return r.Server == n.Server && r.Type == n.Type
	case 1:
		return r.Server == n.Server
	}
	return true
}

// HoldsSub reports whether a subscription belongs to the node.
func (n Node) HoldsSub(id event.SubID, key *event.Key) bool {
	switch n.Level() {
	case 3:
		return id == n.Sub
	case 2:
		return key.Server == n.Server && key.Type == n.Type
	case 1:
		return key.Server == n.Server
	}
	return true
}
