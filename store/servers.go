package store

import (
	"context"
	"encoding/json"
	"fmt"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/tables"
)

// storedServer is an [event.ServerSeen] in the file.
type storedServer struct {
	Era       string           `json:"era,omitempty"`
	Version   string           `json:"version,omitempty"`
	Transport string           `json:"transport,omitempty"`
	Title     []byte           `json:"title,omitempty"`
	Release   []byte           `json:"release,omitempty"`
	At        tables.Timestamp `json:"at"`
}

// Saw implements [event.Store]. It returns after the commit; the errors are
// those of [Store.SetSetting].
func (s *Store) Saw(ctx context.Context, seen event.ServerSeen) error {
	value, err := json.Marshal(storedServer{
		Era:       seen.Era,
		Version:   seen.Version,
		Transport: seen.Transport,
		Title:     []byte(seen.Title.Raw()),
		Release:   []byte(seen.Release.Raw()),
		At:        tables.Stamp(seen.At),
	})
	if err != nil {
		return fmt.Errorf("server %q: %w", seen.Name, err)
	}
	return s.put(ctx, tables.Servers, seen.Name, value)
}

// Servers implements [event.Store], in the order of their names. An entry that
// cannot be read is left out.
func (s *Store) Servers() []event.ServerSeen {
	var servers []event.ServerSeen
	eachJSON(s, tables.Servers, func(k []byte, in storedServer) {
		servers = append(servers, event.ServerSeen{
			Name:      string(k),
			Era:       in.Era,
			Version:   in.Version,
			Transport: in.Transport,
			Title:     trust.Untrusted(string(in.Title)),
			Release:   trust.Untrusted(string(in.Release)),
			At:        in.At.Time(),
		})
	})
	return servers
}
