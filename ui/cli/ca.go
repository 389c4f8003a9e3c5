package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"eventdeck/ui/cli/plain"
)

func (a *app) caCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ca",
		Short: "Show the local certificate authority and how to trust it",
		Long: `ca makes the authority on first use, and tells where its certificate is and how to trust it.
It is one for all of the user's data directories, in the user's state directory: --data does not move it,
so that what was told to trust it need not be told again.`,
		Args: plain.ExactArgs(0),
		Run: a.Run(func(*cobra.Command, []string) error {
			path, err := a.CA("")
			if err != nil {
				return err
			}
			if a.Flags.Data != "" {
				a.Say("the authority is one for all data directories; --data does not move it")
			}
			if a.Flags.JSON {
				return a.PrintJSON(map[string]string{"path": path})
			}
			_, err = fmt.Fprintf(a.Stdout, "%s\n\n%s\n", path, trustAdvice(a.System, path))
			return err
		}),
	}
}

// trustAdvice tells how a server on this machine can trust the authority.
func trustAdvice(system, path string) string {
	quoted := `"` + path + `"`
	var all string
	switch system {
	case "darwin":
		all = "security add-trusted-cert -k ~/Library/Keychains/login.keychain-db " + quoted
	case "windows":
		all = "certutil -user -addstore Root " + quoted
	default:
		all = "sudo cp " + quoted + " /usr/local/share/ca-certificates/eventdeck.crt && sudo update-ca-certificates"
	}
	return strings.Join([]string{
		"Webhook deliveries to this machine are signed for by this authority. It is good for loopback names only.",
		"A server that delivers here must trust it. For one process:",
		"  Go, Python, Ruby   SSL_CERT_FILE=" + quoted,
		"  Node.js            NODE_EXTRA_CA_CERTS=" + quoted,
		"  curl               curl --cacert " + quoted,
		"For everything on this machine:",
		"  " + all,
	}, "\n")
}
