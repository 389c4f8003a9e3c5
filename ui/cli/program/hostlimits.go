package program

import (
	"context"
	"fmt"
	"strings"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
)

// limits returns the limits in the operator's file of settings. It reports mistakes there and
// goes on with the defaults.
func (a *App) limits() config.Limits {
	a.limitsRead.Do(func() {
		path := a.SettingsFile()
		if path == "" {
			return
		}
		s, err := config.LoadSettings(path)
		if err == nil {
			a.limitsSet, err = s.Limits()
		}
		if err == nil {
			return
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			a.Say("%s; the default holds in its place", plain.Message(fmt.Errorf("%s", line)))
		}
	})
	return a.limitsSet
}

// openHere opens the store in this process.
func (a *App) openHere(ctx context.Context, o StoreOptions) (event.Store, error) {
	l := a.limits()
	o.QueueRecords, o.QueueBytes, o.AuditEntries = l.QueueRecords, l.QueueBytes, l.AuditEntries
	return a.OpenStore(ctx, o)
}

// hostLimits are the limits of the host.
func (a *App) hostLimits() host.Limits {
	l := a.limits()
	return host.Limits{
		Servers: l.Servers, Subscriptions: l.Subscriptions,
		Types: l.Types, TypePages: l.TypePages, TypeBytes: l.TypeBytes,
		Payload: l.Payload, Depth: l.Depth,
	}
}
