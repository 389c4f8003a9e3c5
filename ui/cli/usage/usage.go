// Package usage checks the command line: the number of arguments, the values of flags; and it
// says what is wrong.
package usage

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"eventdeck/host/config"
)

// Error is a mistake in the command line itself.
type Error struct{ err error }

// Error implements error.
func (e Error) Error() string { return e.err.Error() }

// Unwrap returns what is wrong.
func (e Error) Unwrap() error { return e.err }

// Errorf returns an error for a mistake in the command line.
func Errorf(format string, args ...any) error {
	return Error{fmt.Errorf(format, args...)}
}

// FlagError says which values a flag takes, for an error about the value that was given.
func FlagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	takes := ""
	switch bad.GetFlag().Value.Type() {
	case "uint64":
		takes = "a whole number from 0 to 18446744073709551615"
	case "duration":
		takes = "a duration, such as 90s or 10m"
	case "bool":
		takes = "true or false"
	default:
		return err
	}
	return Errorf("--%s %q: must be %s", bad.GetFlag().Name, bad.GetValue(), takes)
}

// Duration adds a flag for a duration, which is 0 by default. The help does not show that: it
// stands for no bound.
func Duration(flags *pflag.FlagSet, to *time.Duration, name, help string) {
	flags.DurationVar(to, name, 0, help)
	flags.Lookup(name).DefValue = ""
}

// Meant returns a hint if word is almost the name of a command.
func Meant(root *cobra.Command, word string) string {
	var names, nested []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
		for _, below := range c.Commands() {
			if below.Name() == word {
				nested = append(nested, c.Name()+" "+word)
			}
		}
	}
	if len(nested) > 0 {
		return `, did you mean "` + strings.Join(nested, `" or "`) + `"?`
	}
	if near := config.Nearest(word, names); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// Exactly takes n arguments.
func Exactly(n int) cobra.PositionalArgs { return Between(n, n) }

// AtMost takes at most n arguments.
func AtMost(n int) cobra.PositionalArgs { return Between(0, n) }

// Between takes least to most arguments; another number is a mistake in the command line.
func Between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Errorf("%s: an argument is missing; usage: %s", cmd.Name(), cmd.UseLine())
		case len(args) > most:
			return Errorf("%s: %q is one argument too many; usage: %s", cmd.Name(), args[most], cmd.UseLine())
		}
		return nil
	}
}

// Values offers the values of a flag to the shell.
func Values(cmd *cobra.Command, flag string, values ...cobra.Completion) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // no such flag: a mistake in the program, met by every test
	}
}
