package reactions

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"eventdeck/host/attach"
	"eventdeck/host/react"
	"eventdeck/host/react/toolset"
	"eventdeck/ui/cli/plain"
)

func (a *commands) gateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "gate RUN",
		Short: "Serve an agent the tools of its run",
		Long: `gate is an MCP server on standard input and output, which an agent of a reaction starts: eventdeck names it to the
agent, with a token in its environment that is good for the tools of this run and dies with it. It serves the tools
that the rule names and nothing else. Each call is judged where the reaction runs; one that may change something waits
there for your approval.`,
		Args: plain.ExactArgs(1),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			socket, _ := a.Env(toolset.EnvSocket)
			token, ok := a.Env(toolset.EnvToken)
			if !ok || socket == "" {
				return plain.UsageErrorf("gate: only an agent that a reaction started has the token for this; %s is not set", toolset.EnvToken)
			}
			g, err := attach.AttachGate(cmd.Context(), socket, react.RunID(args[0]), token)
			if err != nil {
				return fmt.Errorf("gate: run %s: %w", args[0], err)
			}
			err = toolset.ServeGate(cmd.Context(), a.Stdin, a.Stdout, g, a.Version)
			return errors.Join(err, g.Close())
		}),
	}
}
