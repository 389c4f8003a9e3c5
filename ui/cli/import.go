package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"eventdeck/host/config"
	"eventdeck/host/export"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
)

// importCommand takes over servers from the files of other MCP clients.
func (a *app) importCommand() *cobra.Command {
	var yes bool
	var file string
	cmd := &cobra.Command{
		Use:   "import [NAME…]",
		Short: "Take over servers from the files of other MCP clients",
		Long: "import reads the configuration files of MCP clients on this machine and shows what it found.\n" +
			"With --yes it writes the servers that are named, or all of them, into the configuration.\n" +
			"Nothing is started or connected to. Values of headers and variables are never shown.\n\n" +
			"Known clients: " + strings.Join(config.ClientNames(), ", ") + ".",
		Example: "eventdeck servers import\neventdeck servers import github --yes\neventdeck servers import --file ./mcp.json",
		Run: a.Run(func(_ *cobra.Command, args []string) error {
			return a.importServers(args, file, yes)
		}),
	}
	cmd.Flags().StringVar(&file, "file", "", "read this file, and no other")
	cmd.Flags().BoolVar(&yes, "yes", false, "write them into the configuration")
	return cmd
}

func (a *app) importServers(names []string, file string, yes bool) error {
	source := a.source()
	var found []config.Found
	var errs []error
	if file == "" {
		found, errs = source.Discover()
	} else {
		found, errs = source.DiscoverFile(file)
	}
	if len(found) == 0 && len(errs) > 0 {
		return errs[0]
	}
	for _, err := range errs {
		a.Say("%s", plain.Message(err))
	}
	drafts, err := wanted(found, names)
	if err != nil {
		return err
	}
	if a.Flags.JSON {
		if err := a.writeFoundJSON(found); err != nil {
			return err
		}
	} else if err := a.writeFound(found); err != nil {
		return err
	}
	switch {
	case len(found) == 0:
		a.Say("no server was found in the files of other MCP clients; `eventdeck servers import --help` lists them")
	case len(drafts) == 0:
		a.Say("nothing to import")
	case !yes:
		a.Say("nothing was written; --yes writes %d to %s", len(drafts), plain.Safe(source.File))
	default:
		if err := source.Add(drafts...); err != nil {
			return err
		}
		a.Say("wrote %d to %s", len(drafts), plain.Safe(source.File))
	}
	return nil
}

// source is where servers are configured, as the screen needs it.
func (a *app) source() config.Source {
	s := config.Source{Paths: a.Paths(), File: a.Flags.Config, Present: a.Dir}
	if s.File == "" {
		if file, err := a.Paths().ConfigFile(); err == nil {
			s.File = file
		}
	}
	return s
}

// wanted returns the servers to import: the named ones, or all that can be used and are not
// switched off.
func wanted(found []config.Found, names []string) ([]config.Draft, error) {
	var drafts []config.Draft
	for _, f := range found {
		if len(names) == 0 && f.Usable() && !f.Off || f.Usable() && slices.Contains(names, f.Name) {
			drafts = append(drafts, f.Draft)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(found, func(f config.Found) bool { return f.Name == name })
		switch {
		case i < 0:
			var have []string
			for _, f := range found {
				have = append(have, f.Name)
			}
			if near := config.Nearest(name, have); near != "" {
				return nil, plain.UsageErrorf("no server %q was found; did you mean %q?", name, near)
			}
			return nil, plain.UsageErrorf("no server %q was found; `eventdeck servers import` lists them", name)
		case found[i].Have:
			return nil, fmt.Errorf("%q is configured already", name)
		case found[i].Problem != "":
			return nil, fmt.Errorf("%q cannot be taken over: %s", name, found[i].Problem)
		}
	}
	return drafts, nil
}

func (a *app) writeFound(found []config.Found) error {
	if len(found) == 0 {
		return nil
	}
	t := &plain.Table{}
	t.Add("NAME", "CLIENT", "WOULD RUN OR REACH", "NEEDS", "STATE", "FILE")
	for _, f := range found {
		var needs []string
		for _, p := range slices.Concat(f.Env, f.Headers) {
			needs = append(needs, p.Name)
		}
		t.Add(plain.Safe(f.Name), f.Client, plain.Safe(f.What()), plain.Safe(strings.Join(needs, " ")), plain.Safe(foundState(f)), plain.Safe(f.Path))
	}
	return a.PrintTable(t)
}

func foundState(f config.Found) string {
	switch {
	case f.Have:
		return "configured already"
	case f.Problem != "":
		return "cannot be used: " + f.Problem
	case len(f.Notes) > 0:
		return strings.Join(f.Notes, "; ")
	case f.Name != strings.TrimSpace(f.There):
		return "renamed: " + f.There + " is taken"
	}
	return "new"
}

func (a *app) writeFoundJSON(found []config.Found) error {
	var b []byte
	for _, f := range found {
		b = append(b, `{"name":`...)
		b = trust.AppendJSONString(b, f.Name)
		for _, m := range [...][2]string{{"client", f.Client}, {"file", f.Path}, {"reaches", f.What()}, {"state", foundState(f)}} {
			b = export.AppendString(b, m[0], m[1])
		}
		b = export.AppendName(b, "usable")
		b = fmt.Appendf(b, "%t}\n", f.Usable())
	}
	return a.Print(b)
}
