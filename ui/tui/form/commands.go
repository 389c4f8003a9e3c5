package form

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
)

// ErrNoSubscription says that a command needs a chosen subscription.
var ErrNoSubscription = errors.New("no subscription is chosen: choose one in the tree or a record of it")

// Commands returns the typed commands about the chosen subscription and about servers.
func (c *Choice) Commands() []palette.ActionCommand {
	return []palette.ActionCommand{
		{Name: "mode", Usage: "push | poll | webhook", Title: "switch the delivery mode", Dangerous: true, Run: c.onSubscription("mode"), Complete: c.completeMode},
		{Name: "failover", Usage: "on | off", Title: "go on in another mode when this one fails", Dangerous: true, Run: c.onSubscription("failover"), Complete: func([]string) []string { return []string{"on", "off"} }},
		{Name: "rotate", Title: "make a new webhook secret", Dangerous: true, Run: c.onSubscription("rotate")},
		{Name: "refresh", Title: "poll, refresh the lease or open the stream again now", Dangerous: true, Run: c.onSubscription("refresh")},
		{Name: "reset", Usage: "now | here", Title: "go on from now, or from the chosen record", Dangerous: true, Run: c.onSubscription("reset"), Complete: func([]string) []string { return []string{"now", "here"} }},
		{Name: "remove", Usage: "SERVER", Title: "remove a server, and end its subscriptions", Dangerous: true, Run: c.OnServerNamed(func(name string) tea.Cmd { return c.Manage.AskRemove(name) }), Complete: c.CompleteServer},
		{Name: "reconnect", Usage: "SERVER", Title: "reconnect, and list the types again", Dangerous: true, Run: c.OnServerNamed(func(name string) tea.Cmd { return c.Manage.Reconnect(name) }), Complete: c.CompleteServer},
		{Name: "sign-in", Usage: "SERVER", Title: "sign in to a server, in the browser", Dangerous: true, Run: func(words []string) (tea.Cmd, error) {
			return OpenSignIn(c.Env, strings.Join(words, " ")), nil
		}, Complete: c.CompleteServer},
		{Name: "sign-out", Usage: "SERVER", Title: "revoke and forget the tokens of a server", Dangerous: true, Run: func(words []string) (tea.Cmd, error) {
			return c.Manage.SignOut(strings.Join(words, " ")), nil
		}, Complete: c.CompleteServer},
	}
}

// onSubscription runs a command on the chosen subscription.
func (c *Choice) onSubscription(command string) func([]string) (tea.Cmd, error) {
	return c.Stream.Halted(func(words []string) (tea.Cmd, error) {
		v := c.Subscription()
		if v == nil {
			return nil, ErrNoSubscription
		}
		return c.Manage.Words(v, c.recordOf(c.Stream.At), command, words)
	})
}

func (c *Choice) completeMode([]string) []string {
	if v := c.Subscription(); v != nil {
		return c.Manage.OtherModes(v)
	}
	return nil
}

// OnServerNamed makes a typed command from a function that acts on a configured server.
func (c *Choice) OnServerNamed(fn func(name string) tea.Cmd) func([]string) (tea.Cmd, error) {
	return func(words []string) (tea.Cmd, error) {
		name := strings.Join(words, " ")
		if query.FindServer(c.Snap, name) == nil {
			return nil, query.UnknownServer(c.Snap, name)
		}
		return fn(name), nil
	}
}

// CompleteServer returns the names of the servers.
func (c *Choice) CompleteServer([]string) []string { return query.ServerNames(c.Snap) }

// SubscribeCommand returns the typed command that subscribes.
func (c *Choice) SubscribeCommand() palette.ActionCommand {
	return palette.ActionCommand{Name: "sub", Usage: "TYPE [name=value…] [mode=M] [server=S] [from=now|saved]", Title: "subscribe", Dangerous: true, Run: c.runSubscribe, Complete: func(words []string) []string { return CompleteLine(c.Snap, words) }}
}

func (c *Choice) runSubscribe(words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		return nil, palette.ErrUsage
	}
	return OpenLine(c.Env, c.Snap, words)
}

// ForHistory returns a typed line for the history, without secrets; "" if it does not belong there.
func (c *Choice) ForHistory(line string) string { return LineForHistory(c.Snap, "sub", line) }
