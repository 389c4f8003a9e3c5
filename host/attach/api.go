package attach

import (
	"context"
	"fmt"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
)

var _ host.API = (*Client)(nil)

// notHere returns an [ErrNotHere] that names the owner.
func (c *Client) notHere(what string) error {
	return fmt.Errorf("%s: %w: process %d has %s open; do it there, or quit it first", what, ErrNotHere, c.PID(), c.dir)
}

// AddServer implements [host.API]: the owner finds the server by its name in its own configuration.
// If it does not, later calls for the server return the error.
func (c *Client) AddServer(s event.Server) {
	ctx, cancel := context.WithTimeout(c.ctx, askTimeout)
	defer cancel()
	want := serverName{Name: s.Name, Print: fingerprint(s)}
	if s.AdHoc && !event.IsAddressName(s.URL) {
		want.Address = s.URL
	}
	_, err := change(ctx, c, verbAdd, want)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		delete(c.refused, s.Name)
	} else {
		c.refused[s.Name] = fmt.Errorf("process %d has %s open: %w", c.PID(), c.dir, err)
	}
}

// AddressName returns the name under which the owner knows an address: see
// [host.AddressName].
func (c *Client) AddressName(ctx context.Context, address string) (string, error) {
	return ask(ctx, c, verbName, address)
}

// refusal returns why the owner refused to add a server, nil if it did not.
func (c *Client) refusal(server string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused[server]
}

// Log implements [host.API].
func (c *Client) Log() *eventlog.Log { return c.log }

// Types implements [host.API].
func (c *Client) Types(ctx context.Context, server string) ([]event.Type, error) {
	if err := c.refusal(server); err != nil {
		return nil, err
	}
	return ask(ctx, c, verbTypes, server)
}

// Announced implements [host.API].
func (c *Client) Announced(ctx context.Context, server string) ([]event.Type, error) {
	if err := c.refusal(server); err != nil {
		return nil, err
	}
	return ask(ctx, c, verbAnnounced, server)
}

// Connected implements [host.API].
func (c *Client) Connected(ctx context.Context, server string, firstTry bool) (host.ServerView, error) {
	if err := c.refusal(server); err != nil {
		return host.ServerView{}, err
	}
	a, err := ask(ctx, c, verbConnected, connectRequest{server, firstTry})
	return a.View, err
}

// request returns a request as it is sent.
//
// Error: [ErrNotHere] for one with a secret.
func (c *Client) request(r host.Request) (request, error) {
	if err := c.refusal(r.Server); err != nil {
		return request{}, err
	}
	if !r.Secret.IsZero() {
		return request{}, c.notHere("a secret of your own")
	}
	return request{r.Server, r.Type, r.Args, r.Mode, r.From, r.MaxAge, r.TTL, r.Ends}, nil
}

// Check implements [host.API].
func (c *Client) Check(ctx context.Context, r host.Request) (event.Mode, error) {
	q, err := c.request(r)
	if err != nil {
		return "", err
	}
	return ask(ctx, c, verbCheck, q)
}

// Subscribe implements [host.API].
func (c *Client) Subscribe(ctx context.Context, r host.Request) (event.Subscription, error) {
	q, err := c.request(r)
	if err != nil {
		return event.Subscription{}, err
	}
	args, _ := event.CanonicalArgs(r.Args) // the owner refuses bad ones
	return changePart(ctx, c, verbSubscribe, q, event.Key{Server: r.Server, Type: r.Type, Args: args}.ID())
}

// Preview implements [host.API].
func (c *Client) Preview(r host.Request) (host.Preview, error) {
	r.Secret = event.Secret{}
	q, err := c.request(r)
	if err != nil {
		return host.Preview{}, err
	}
	return askWithTimeout(c, verbPreview, q)
}

// Unsubscribe implements [host.API].
func (c *Client) Unsubscribe(ctx context.Context, id event.SubID) error {
	return actSub(ctx, c, verbEnd, id, id)
}

// Pause implements [host.API].
func (c *Client) Pause(ctx context.Context, id event.SubID) error {
	return actSub(ctx, c, verbPause, id, id)
}

// Resume implements [host.API].
func (c *Client) Resume(ctx context.Context, id event.SubID) error {
	return actSub(ctx, c, verbResume, id, id)
}

// SetMode implements [host.API].
func (c *Client) SetMode(ctx context.Context, id event.SubID, m event.Mode) error {
	return actSub(ctx, c, verbMode, modeChange{id, m}, id)
}

// SetFailover implements [host.API].
func (c *Client) SetFailover(ctx context.Context, id event.SubID, on bool) error {
	return actSub(ctx, c, verbFailover, failoverChange{id, on}, id)
}

// SetEnd implements [host.API].
func (c *Client) SetEnd(ctx context.Context, id event.SubID, at time.Time) error {
	return actSub(ctx, c, verbSetEnd, endChange{id, at}, id)
}

// Refresh implements [host.API].
func (c *Client) Refresh(ctx context.Context, id event.SubID) error {
	return actSub(ctx, c, verbRefresh, id, id)
}

// ResetCursor implements [host.API].
func (c *Client) ResetCursor(ctx context.Context, id event.SubID, from host.From) error {
	return actSub(ctx, c, verbReset, reset{id, from}, id)
}

// RotateSecret implements [host.API].
func (c *Client) RotateSecret(ctx context.Context, id event.SubID) error {
	return actSub(ctx, c, verbRotate, id, id)
}

// Reconnect implements [host.API].
func (c *Client) Reconnect(server string) error {
	if err := c.refusal(server); err != nil {
		return err
	}
	_, err := askWithTimeout(c, verbReconnect, server)
	return err
}

// RemoveServer implements [host.API].
func (c *Client) RemoveServer(ctx context.Context, name string) error {
	return act(ctx, c, verbRemove, name)
}

// TestServer implements [host.API]: the description of a server that is not known yet
// may hold secrets and is not sent.
func (c *Client) TestServer(context.Context, event.Server) (host.ServerView, error) {
	return host.ServerView{}, c.notHere("the test of a server")
}

// Remote implements [host.API].
func (c *Client) Remote(ctx context.Context, server string) ([]host.RemoteSubscription, error) {
	return ask(ctx, c, verbRemote, server)
}

// EndRemote implements [host.API].
func (c *Client) EndRemote(ctx context.Context, server string, id trust.Text) error {
	return act(ctx, c, verbEndRemote, remoteID{server, id})
}

// Refusals implements [host.API].
func (c *Client) Refusals() []event.Refusal {
	out, err := askWithTimeout(c, verbRefused, false)
	if err != nil {
		return nil // the state tells that the host does not answer
	}
	return out
}

// Printed implements [host.API]. The first process that prints a subscription keeps its position,
// until the process ends or detaches.
//
// Error: [ErrPrints].
func (c *Client) Printed(ctx context.Context, id event.SubID, seq uint64) error {
	_, err := ask(ctx, c, verbPrinted, printed{id, seq})
	return err
}

// Setting implements [host.API].
func (c *Client) Setting(key string) (string, error) { return askWithTimeout(c, verbSetting, key) }

// SetSetting implements [host.API].
func (c *Client) SetSetting(ctx context.Context, key, value string) error {
	_, err := ask(ctx, c, verbSetSetting, setting{key, value})
	return err
}

// Marks implements [host.API].
func (c *Client) Marks() []event.Mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.Marks
}

// SetMark implements [host.API].
func (c *Client) SetMark(ctx context.Context, m event.Mark) error {
	return actSub(ctx, c, verbMark, m, "")
}

// RemoveMark implements [host.API].
func (c *Client) RemoveMark(ctx context.Context, seq uint64, line bool) error {
	return actSub(ctx, c, verbUnmark, markID{seq, line}, "")
}

// Audit implements [host.API].
func (c *Client) Audit() *eventlog.Audit { return eventlog.NewAudit(c.Store()) }

// Wire implements [host.API]. Frames are fetched for a few seconds after each call.
func (c *Client) Wire() *eventlog.Ring[host.WireFrame] {
	c.wireLookedAt.Store(time.Now().UnixNano())
	return c.wire
}

// AppLog implements [host.API].
func (c *Client) AppLog() *eventlog.Ring[host.LogLine] { return c.appLog }

// Stats implements [host.API]: the last ones when the host does not answer.
func (c *Client) Stats() host.Stats {
	s, err := askWithTimeout(c, verbStats, false)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.stats = s
	}
	return c.stats
}

// SignIn implements [host.API].
func (c *Client) SignIn(ctx context.Context, server string) (host.SignIn, error) {
	if err := c.refusal(server); err != nil {
		return host.SignIn{}, err
	}
	a, err := ask(ctx, c, verbSignIn, server)
	if err != nil {
		return host.SignIn{}, err
	}
	return host.SignIn{URL: a.URL, Issuer: a.Issuer, Wait: func(ctx context.Context) error {
		if ctx.Err() != nil { // to give it up, the owner has to be told
			_, err := askWithTimeout(c, verbWait, signInWait{a.ID, true})
			return err
		}
		_, err := change(ctx, c, verbWait, signInWait{ID: a.ID})
		return err
	}}, nil
}

// SignOut implements [host.API].
func (c *Client) SignOut(ctx context.Context, server string) error {
	return act(ctx, c, verbSignOut, server)
}

// Backup copies the store of the owner, while it is in use, to a file that
// does not exist yet, named by its absolute path. It returns the bytes written.
func (c *Client) Backup(ctx context.Context, file string) (int64, error) {
	return ask(ctx, c, verbBackup, file)
}
