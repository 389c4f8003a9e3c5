package form

import (
	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/tree"
)

// Choice is what keys and typed commands about subscriptions, event types and servers act on, and what
// they do.
type Choice struct {
	*Env
	Manage *Manager
	Tree   *tree.Tree
	Stream *stream.Stream
	Panes  *layout.Screen
	Table  func() *table.Table // the one that is shown; nil: none is
	// NotConfigured says why no servers can be added where there is no file of servers.
	NotConfigured string
}

// Subscription returns the subscription that keys act on: the one of the row of a table, of the chosen
// node, or of the chosen record. For a type it is its only subscription. Nil if there is none.
func (c *Choice) Subscription() *host.SubscriptionView {
	if c.Panes.OnTable() {
		return c.OfRow()
	}
	at := c.Tree.At
	if r, ok := c.Stream.Chosen(); ok && c.Panes.Focus != layout.Tree {
		at = query.Node{Server: r.Server, Type: r.Type, Sub: r.Sub}
	}
	return query.SubAt(c.Snap, at)
}

// OnNode reports whether the detail shows the chosen node. The root of the tree is shown only if
// there is no record.
func (c *Choice) OnNode() bool {
	return c.Panes.Subject == layout.Tree && (c.Tree.At != query.Node{} || c.Stream.At == 0)
}

// EndedRow describes a chosen row of the stream whose subscription has ended, "" for other rows.
func (c *Choice) EndedRow() string {
	r, ok := c.Stream.Chosen()
	if !ok || r.Sub == "" || query.FindSub(c.Snap, r.Sub) != nil || c.Panes.Focus == layout.Tree || c.Panes.OnTable() {
		return ""
	}
	return "of a subscription that has ended"
}

// OfRow returns the subscription of the chosen row of a table, nil if there is none.
func (c *Choice) OfRow() *host.SubscriptionView {
	if t := c.Table(); t != nil {
		return query.FindSub(c.Snap, t.At.Sub)
	}
	return nil
}

// pauseWord returns the hint of the key that pauses.
func (c *Choice) pauseWord() string {
	if Paused(c.Subscription()) {
		return "resume"
	}
	return "pause"
}

// OnSub reports whether there is such a subscription.
func (c *Choice) OnSub() bool { return c.Subscription() != nil }

// recordOf returns a record, nil if it is not in memory.
func (c *Choice) recordOf(seq uint64) *event.Record {
	if r, ok := c.Stream.Record(seq); ok {
		return &r
	}
	return nil
}

// CanReread reports whether the subscription of the chosen record can be read again from it.
func (c *Choice) CanReread() bool {
	r, ok := c.Stream.Record(c.Stream.At)
	return ok && r.Cursor.Valid && query.FindSub(c.Snap, r.Sub) != nil && !c.OnNode()
}

// AskReread asks whether to read the subscription of the chosen record again from there.
func (c *Choice) AskReread() {
	if r, ok := c.Stream.Record(c.Stream.At); ok {
		c.Manage.AskReread(r)
	}
}

func (c *Choice) onWebhook() bool {
	v := c.Subscription()
	return v != nil && v.Mode == event.ModeWebhook
}

// chosenSeq returns the record of the chosen row, in a table or in the stream.
func (c *Choice) chosenSeq() uint64 {
	if t := c.Table(); t != nil {
		return t.At.Seq
	}
	return c.Stream.At
}

// CanSubscribe reports whether an event type is chosen, or types are marked.
func (c *Choice) CanSubscribe() bool {
	_, t := c.formSubject()
	return t != nil || len(c.Tree.Marked()) > 0
}

// formSubject returns the chosen event type and its server: that of the subscription of a table row,
// of the chosen node, or of the chosen record.
func (c *Choice) formSubject() (string, *event.Type) {
	n := c.Tree.At
	if c.Panes.OnTable() {
		if n = (query.Node{}); c.OfRow() != nil {
			n = query.Node{Server: c.OfRow().Key.Server, Type: c.OfRow().Key.Type}
		}
	} else if n.Level() < 2 && c.Panes.Focus != layout.Tree {
		if r, ok := c.Stream.Record(c.Stream.At); ok {
			n = query.Node{Server: r.Server, Type: r.Type}
		}
	}
	return n.Server, query.FindType(c.Snap, n)
}

func (c *Choice) wantsSignIn() bool {
	s := query.FindServer(c.Snap, c.Tree.At.Server)
	return s != nil && s.SignIn != ""
}

func (c *Choice) onServerRow() bool { return c.Tree.At.Level() == 1 && c.OnServer() }

// OnServer reports whether the chosen node is a configured server, or below one.
func (c *Choice) OnServer() bool { return query.FindServer(c.Snap, c.Tree.At.Server) != nil }

// canConfigure reports whether servers can be added from here.
func (c *Choice) canConfigure() bool { return c.Servers.File != "" }

// TypeToHide returns the type of the chosen node of the tree, else that of the chosen record.
func (c *Choice) TypeToHide() (typ trust.Text, ok bool) {
	if c.Panes.Focus == layout.Tree {
		return c.Tree.At.Type, !c.Tree.At.Type.IsZero()
	}
	r, ok := c.Stream.Chosen()
	return r.Family(), ok && !r.Family().IsZero()
}
