package form

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
)

var (
	inTree  = []layout.Pane{layout.Tree}
	subRows = []layout.Pane{layout.Tree, layout.Subs} // where a subscription is a row
)

// SubscribeActions begin subscriptions.
func (c *Choice) SubscribeActions() []palette.Action {
	return palette.Grouped("Subscriptions",
		palette.Action{ID: "subscribe", Title: "subscribe to the chosen event type", Needs: palette.Type, Keys: []string{"s"}, Hint: "subscribe", Dangerous: true, When: c.CanSubscribe, Run: c.OpenForm},
		palette.Action{ID: "mark.type", Title: "mark the type, to subscribe to several at once", Needs: palette.Type, Keys: []string{"*"}, Panes: inTree, Dangerous: true, When: c.onType, Run: palette.Act(c.markType)},
	)
}

// SubscriptionActions change or end the chosen subscription.
func (c *Choice) SubscriptionActions() []palette.Action {
	return palette.Grouped("Subscriptions",
		palette.Action{ID: "pause", Title: "pause or resume the subscription", Needs: palette.Subscription, Instead: c.EndedRow, Keys: []string{"P"}, Hint: "pause", HintNow: c.pauseWord, Dangerous: true, When: c.OnSub, Run: c.atOnce("pause", func(v *host.SubscriptionView) tea.Cmd { return c.Manage.TogglePause(v) })},
		palette.Action{ID: "edit", Title: "edit the subscription", Needs: palette.Subscription, Instead: c.EndedRow, Keys: []string{"e"}, Dangerous: true, When: c.editable, Run: c.openEdit},
		palette.Action{ID: "unsubscribe", Title: "unsubscribe", Needs: palette.Subscription, Instead: c.EndedRow, Also: "end delete stop", Keys: []string{"D"}, Hint: "unsubscribe", Dangerous: true, When: c.OnSub, Run: palette.Act(func() { c.Manage.AskUnsubscribe(c.Subscription(), c.Stream.RowName()) })},
	)
}

// SignInActions are about signing in to servers.
func (c *Choice) SignInActions() []palette.Action {
	return palette.Grouped("Servers",
		palette.Action{ID: "sign-in", Title: "sign in to the server, in the browser", Keys: []string{"L"}, Hint: "sign in", Panes: inTree, Dangerous: true, When: c.wantsSignIn, Run: func() tea.Cmd { return OpenSignIn(c.Env, c.Tree.At.Server) }},
	)
}

// DeliveryActions change how a subscription runs.
func (c *Choice) DeliveryActions() []palette.Action {
	return palette.Grouped("Subscriptions",
		palette.Action{ID: "sub.refresh", Title: "ask the server again from the saved position", Needs: palette.Subscription, Instead: c.EndedRow, Also: "poll now retry", Keys: []string{"u"}, Dangerous: true, When: c.OnSub, Run: c.atOnce("sub.refresh", func(v *host.SubscriptionView) tea.Cmd { return c.Manage.Refresh(v) })},
		palette.Action{ID: "sub.mode", Title: "change the delivery mode, or failover", Needs: palette.Subscription, Instead: c.EndedRow, Also: "push poll webhook", Keys: []string{"M"}, Dangerous: true, When: c.OnSub, Run: c.openModeSwitch},
		palette.Action{ID: "sub.failover", Title: "automatic failover on or off: webhook, push, poll", Needs: palette.Subscription, Instead: c.EndedRow, Keys: []string{"F"}, Panes: subRows, Dangerous: true, When: c.OnSub, Run: func() tea.Cmd { v := c.Subscription(); return c.Manage.SetFailover(v, !v.Failover) }},
		palette.Action{ID: "sub.reset", Title: "reset the saved position", Needs: palette.Subscription, Instead: c.EndedRow, Also: "cursor rewind seek", Keys: []string{"C"}, Panes: subRows, Dangerous: true, When: c.OnSub, Run: palette.Act(func() { c.Manage.AskReset(c.Subscription(), c.recordOf(c.chosenSeq())) })},
		palette.Action{ID: "sub.rotate", Title: "make a new webhook secret", Keys: []string{"K"}, Panes: subRows, Dangerous: true, When: c.onWebhook, Run: palette.Act(func() { c.Manage.AskRotate(c.Subscription()) })},
	)
}

// ServerActions are about servers, not about subscriptions.
func (c *Choice) ServerActions() []palette.Action {
	return palette.Grouped("Servers",
		palette.Action{ID: "server.add", Title: "add a server", Keys: []string{"A"}, Dangerous: true, Lacks: c.NotConfigured, When: c.canConfigure, Run: palette.Act(func() { OpenAddServer(c.Env) })},
		palette.Action{ID: "server.import", Title: "import servers from other MCP clients", Keys: []string{"I"}, Dangerous: true, Lacks: c.NotConfigured, When: c.canConfigure, Run: func() tea.Cmd { return OpenImport(c.Env) }},
		palette.Action{ID: "server.remove", Title: "remove the server, and end its subscriptions", Needs: palette.Server, Keys: []string{"X"}, Panes: inTree, Dangerous: true, When: c.onServerRow, Run: func() tea.Cmd { return c.Manage.AskRemove(c.Tree.At.Server) }},
	)
}

// atOnce makes the Run of an action that changes the chosen subscription without a question.
func (c *Choice) atOnce(id string, run func(v *host.SubscriptionView) tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		if target := c.Stream.Halt(); target != "" {
			c.Tell(c.KeyOf(id) + " again acts on " + target + "; " + c.KeyOf("follow") + " follows on")
			return nil
		}
		return run(c.Subscription())
	}
}

func (c *Choice) OpenForm() tea.Cmd {
	if len(c.Tree.Marked()) > 0 {
		return c.openBulk()
	}
	server, t := c.formSubject()
	return OpenSubscribe(c.Env, server, *t)
}

// editable reports whether the chosen subscription can be edited: its server must
// still list the type.
func (c *Choice) editable() bool {
	v := c.Subscription()
	return v != nil && query.FindType(c.Snap, query.Node{Server: v.Key.Server, Type: v.Key.Type}) != nil
}

// openEdit shows a form with the values of the chosen subscription.
func (c *Choice) openEdit() tea.Cmd {
	v := c.Subscription()
	t := query.FindType(c.Snap, query.Node{Server: v.Key.Server, Type: v.Key.Type})
	return OpenEdit(c.Env, *v, *t)
}

// markType marks an event type for a subscription to several types, or removes its mark.
func (c *Choice) markType() {
	c.Tell(cells.Count(c.Tree.Mark(), "type") + " marked; " + c.KeyOf("subscribe") + " subscribes to all of them")
}

func (c *Choice) onType() bool {
	return c.Tree.At.Level() == 2 && query.FindType(c.Snap, c.Tree.At) != nil
}

// openBulk shows one form for all marked types.
func (c *Choice) openBulk() tea.Cmd {
	many := slices.DeleteFunc(c.Tree.Marked(), func(n query.Node) bool { return query.FindType(c.Snap, n) == nil })
	if len(many) == 0 {
		c.Tree.Unmark()
		c.Tell("the marked types are no longer there")
		return nil
	}
	types := make([]event.Type, len(many))
	for i, n := range many {
		types[i] = *query.FindType(c.Snap, n)
	}
	return OpenMany(c.Env, many, types, c.Tree.Unmark)
}

func (c *Choice) openModeSwitch() tea.Cmd {
	v := c.Subscription()
	return OpenModes(c.Env, *v, query.FindType(c.Snap, query.Node{Server: v.Key.Server, Type: v.Key.Type}))
}
