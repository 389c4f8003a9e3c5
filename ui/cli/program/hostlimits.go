package program

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/usage"
)

// limits reads the operator's file of settings once, and returns the limits in the operator's file of settings. It reports mistakes there and
// goes on with the defaults.
func (a *App) limits() config.Limits {
	a.limitsRead.Do(func() {
		path := a.SettingsFile()
		if path == "" {
			return
		}
		s, err := config.LoadSettings(path)
		if err == nil {
			var wrong error
			a.limitsSet, err = s.Limits()
			a.keyPlace, wrong = s.KeyPlace()
			err = errors.Join(err, wrong)
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

// openHere opens the store in this process. Error: [attach.ErrElsewhere] too.
func (a *App) openHere(ctx context.Context, o StoreOptions) (event.Store, error) {
	if !o.Temporary && attach.Elsewhere(o.Dir) {
		return nil, fmt.Errorf("%w: %s has the token of its process, and the connection to that is cut; connect again, or remove the token", attach.ErrElsewhere, o.Dir)
	}
	var err error
	if o.KeyPlace, err = a.KeyPlace(); err != nil {
		return nil, err
	}
	l := a.limits()
	o.QueueRecords, o.QueueBytes, o.AuditEntries = l.QueueRecords, l.QueueBytes, l.AuditEntries
	s, err := a.OpenStore(ctx, o)
	if err == nil && o.Generation != "" && !s.Generations().Has(o.Generation, o.Position, s.Last()) {
		return nil, errors.Join(fmt.Errorf("%w: %s has another one now", attach.ErrElsewhere, o.Dir), s.Close())
	}
	return s, err
}

// keyVariable names where a new store keeps its sealing key, before the settings do.
const keyVariable = "EVENTDECK_KEY"

// KeyPlace returns where the operator wants new stores to keep their sealing key; "": nowhere in
// particular.
//
// Error: a usage error for another value of the variable.
func (a *App) KeyPlace() (string, error) {
	switch place, _ := a.Env(keyVariable); place {
	case "":
		a.limits()
		return a.keyPlace, nil
	case "file", "keyring":
		return place, nil
	default:
		return "", usage.Errorf("%s is %q; it can be file or keyring", keyVariable, place)
	}
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
