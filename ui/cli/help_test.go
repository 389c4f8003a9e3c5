package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"eventdeck/ui/cli/program"
)

func TestHelpHasNoColours(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"tail", "--help"}, {"help", "subs"}, {"completion", "bash"}, {"--version"}} {
		b := newBench(t)
		if code := b.run(t, args...); code != exitDone || b.err.String() != "" {
			t.Errorf("%q: code %d, %q", args, code, b.err.String())
		}
		if out := b.out.String(); out == "" || strings.Contains(out, "\x1b") {
			t.Errorf("%q: colours, or nothing: %q", args, out)
		}
	}
}

// Paragraphs are wrapped to the width of the terminal, and by nothing else; lists keep their lines.
func TestHelpIsWrappedOnce(t *testing.T) {
	cmd, below := &cobra.Command{Long: "a long\nline\n\nIt ends with\n  0  if done\n  1  if not\n\nthe\nend"}, &cobra.Command{Use: "x", Long: "b\nc"}
	cmd.AddCommand(below)
	joinLines(cmd)
	if want := "a long line\n\nIt ends with\n  0  if done\n  1  if not\n\nthe end"; cmd.Long != want || below.Long != "b c" {
		t.Errorf("%q, %q", cmd.Long, below.Long)
	}
	b := newBench(t)
	b.expect(t, exitDone, "", "mcp", "--help")
	for line := range strings.Lines(b.out.String()) {
		if word := strings.TrimSpace(line); word == "subscribe" || word == "that" {
			t.Errorf("%q stands alone:\n%s", word, b.out.String())
		}
	}
}

// The help writes the first word of a flag with a capital, so that must not be a name or a value:
// these are taken as they are.
func TestFirstWordsOfFlagsAreNoValues(t *testing.T) {
	word := regexp.MustCompile(`^[a-z]+[ ,:]`)
	names := []string{"pager", "chat", "archive", "digest", "model", "auto", "poll", "push", "webhook", "now", "ndjson", "csv", "cloudevents"}
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		look := func(f *pflag.Flag) {
			first := word.FindString(f.Usage)
			if !f.Hidden && (first == "" || slices.Contains(names, first[:len(first)-1])) {
				t.Errorf("%s --%s begins with a name: %s", c.CommandPath(), f.Name, f.Usage)
			}
			if f.DefValue == "0s" {
				t.Errorf("%s --%s has the default 0s", c.CommandPath(), f.Name)
			}
		}
		c.Flags().VisitAll(look)
		c.PersistentFlags().VisitAll(look)
		for _, below := range c.Commands() {
			check(below)
		}
	}
	b := newBench(t)
	check((&app{&program.App{Program: b.p}}).root())
}

// The flags of the receiver are in the help of commands that may receive deliveries, and every
// command takes them.
func TestHelpLeavesOutFlagsOfTheReceiver(t *testing.T) {
	for command, want := range map[string]bool{"tail": true, "subs list": true, "events": false, "store check": false} {
		b := newBench(t)
		if code := b.run(t, append(strings.Fields(command), "--help")...); code != exitDone || strings.Contains(b.out.String(), "--hook-connections") != want {
			t.Errorf("%s: code %d\n%s", command, code, b.out.String())
		}
	}
	newBench(t).expect(t, exitDone, "", "version", "--listen", "127.0.0.1:0")
}
