// Checks the command line: the number of arguments, the values of flags; and it
// says what is wrong.

package plain

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"eventdeck/host/config"
)

// UsageError is a mistake in the command line itself.
type UsageError struct{ err error }

// Error implements error.
func (e UsageError) Error() string { return e.err.Error() }

// Unwrap returns what is wrong.
func (e UsageError) Unwrap() error { return e.err }

// UsageErrorf returns an error for a mistake in the command line.
func UsageErrorf(format string, args ...any) error {
	return UsageError{fmt.Errorf(format, args...)}
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
	return UsageErrorf("--%s %q: must be %s", bad.GetFlag().Name, bad.GetValue(), takes)
}

// DurationFlag adds a flag for a duration, which is 0 by default. The help does not show that: it
// stands for no bound.
func DurationFlag(flags *pflag.FlagSet, to *time.Duration, name, help string) {
	flags.DurationVar(to, name, 0, help)
	flags.Lookup(name).DefValue = ""
}

// SimilarCommand returns a hint if word is almost the name of a command.
func SimilarCommand(root *cobra.Command, word string) string {
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

// ExactArgs takes n arguments.
func ExactArgs(n int) cobra.PositionalArgs { return RangeArgs(n, n) }

// MaximumArgs takes at most n arguments.
func MaximumArgs(n int) cobra.PositionalArgs { return RangeArgs(0, n) }

// RangeArgs takes least to most arguments; another number is a mistake in the command line.
func RangeArgs(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return UsageErrorf("%s: an argument is missing; usage: %s", cmd.Name(), cmd.UseLine())
		case len(args) > most:
			return UsageErrorf("%s: %q is one argument too many; usage: %s", cmd.Name(), args[most], cmd.UseLine())
		}
		return nil
	}
}

// CompleteValues offers the values of a flag to the shell.
func CompleteValues(cmd *cobra.Command, flag string, values ...cobra.Completion) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // no such flag: a mistake in the program, met by every test
	}
}
