package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/events"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

func (a *app) typesCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "types SERVER",
		Short:             "List the event types of a server with modes and schemas",
		Args:              plain.ExactArgs(1),
		ValidArgsFunction: a.CompleteServer,
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.showTypes(cmd.Context(), args[0])
		}),
	}
}

func (a *app) showTypes(ctx context.Context, server string) error {
	s, err := a.FindServer(ctx, server)
	if err != nil {
		return err
	}
	here, there := a.ByProcess(ctx, []event.Server{s}, false)
	servers := slices.Concat(here, there)
	return a.withServers(ctx, servers, func(d *program.OpenHost) error {
		return a.showTypesOf(ctx, d, servers[0].Name)
	})
}

func (a *app) showTypesOf(ctx context.Context, d *program.OpenHost, server string) error {
	if _, err := d.Connect(ctx, server); err != nil {
		return err
	}
	types, err := d.EventTypes(ctx, server)
	events.NewWarner(a.Say).Asked(d, server)
	if err != nil {
		return err
	}
	if len(types) == 0 {
		a.Say("the server lists no event types")
	}
	a.sayMissing(d.Snapshot(), server)
	var b []byte
	for _, t := range types {
		if a.Flags.JSON {
			b = appendType(b, t)
		} else {
			b = appendTypePlain(b, t)
		}
	}
	return a.Print(b)
}

// sayMissing tells of types that the server has and that are not listed.
func (a *app) sayMissing(snapshot host.Snapshot, server string) {
	for _, view := range snapshot.Servers {
		if view.Name != server {
			continue
		}
		if view.TypesErr != "" {
			a.Say("not all event types are shown: %s", view.TypesErr)
		}
		if view.BadTypes > 0 {
			a.Say("%s", leftOut(view.BadTypes, view.BadWhy))
		}
	}
}

// appendType appends the type as one line of JSON.
func appendType(b []byte, t event.Type) []byte {
	b = append(b, `{"name":`...)
	b = trust.AppendJSONString(b, t.Name.Raw())
	b = export.AppendText(b, "description", t.Description)
	b = append(b, `,"modes":[`...)
	for i, m := range t.Modes {
		if i > 0 {
			b = append(b, ',')
		}
		b = trust.AppendJSONString(b, string(m))
	}
	b = append(b, ']')
	b = appendSchema(b, "inputSchema", t.InputSchema)
	b = appendSchema(b, "payloadSchema", t.PayloadSchema)
	return append(b, '}', '\n')
}

func appendSchema(b []byte, name string, schema []byte) []byte {
	b = export.AppendName(b, name)
	if len(schema) == 0 {
		return append(b, "null"...)
	}
	return trust.AppendCompactJSON(b, schema)
}

// appendTypePlain appends the type for a person: a line with name and modes, and one for each
// other known thing.
func appendTypePlain(b []byte, t event.Type) []byte {
	modes := make([]string, 0, len(t.Modes)+len(t.OtherModes))
	for _, m := range t.Modes {
		modes = append(modes, string(m))
	}
	for _, m := range t.OtherModes {
		modes = append(modes, plain.Text(m)+" (not known here)")
	}
	if len(modes) == 0 {
		modes = append(modes, "no mode")
	}
	b = append(b, plain.Text(t.Name)...)
	b = append(b, "  "+strings.Join(modes, ", ")+"\n"...)
	if !t.Description.IsZero() {
		b = append(b, "    "+plain.Text(t.Description)+"\n"...)
	}
	if len(t.InputSchema) > 0 {
		b = append(b, "    arguments  "+plain.JSON(t.InputSchema)+"\n"...)
	}
	if len(t.PayloadSchema) > 0 {
		b = append(b, "    payload    "+plain.JSON(t.PayloadSchema)+"\n"...)
	}
	return b
}

// leftOut says how many descriptors are not among the types, and why the first few.
func leftOut(types int, why []string) string {
	said := event.Some(types, "event type of the server is", "event types of the server are") + " left out: " + strings.Join(why, "; ")
	if more := types - len(why); more > 0 && len(why) > 0 {
		said += fmt.Sprintf("; and %d more", more)
	}
	return strings.TrimSuffix(said, ": ")
}
