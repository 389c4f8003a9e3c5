package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/config"
	"eventdeck/ui/tui/words"
)

// command is a line that can be typed after the key of the palette.
type command struct {
	name  string
	usage string // what follows the name
	title string
	// dangerous commands change what servers or the store hold.
	dangerous bool
	run       func(a *app, words []string) (tea.Cmd, error)
	// complete returns what the last of the words may be; nil: nothing is known.
	complete func(a *app, words []string) []string
}

// errCommand: a typed line is no command.
var errCommand = errors.New("no such command")

// errUsage: a command got words that it does not take.
var errUsage = words.ErrUsage

func usage(c *command) error { return fmt.Errorf("%w: %s %s", errUsage, c.name, c.usage) }

// command returns a command by its name.
func (a *app) command(name string) *command {
	for i := range a.commands {
		if a.commands[i].name == name {
			return &a.commands[i]
		}
	}
	return nil
}

// execute runs a typed line: a command, or the id of an action.
func (a *app) execute(line string) (tea.Cmd, error) {
	words, err := splitWords(line)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, nil
	}
	if c := a.command(words[0]); c != nil {
		if c.dangerous && a.readOnly {
			return nil, errReadOnly
		}
		return c.run(a, words[1:])
	}
	if x := a.action(words[0]); x != nil && len(words) == 1 {
		switch {
		case x.dangerous && a.readOnly:
			return nil, errReadOnly
		case !x.works(a) && x.needs != "":
			return nil, fmt.Errorf("%s needs %s: choose one in %s", x.id, x.needs, a.KeyOf(chosenIn(x.needs)))
		case !x.works(a):
			return nil, fmt.Errorf("%q does not work here", x.id)
		}
		return x.run(a), nil
	}
	return nil, a.unknownCommand(words[0])
}

func (a *app) unknownCommand(name string) error {
	var names []string
	for i := range a.commands {
		names = append(names, a.commands[i].name)
	}
	for i := range a.actions {
		names = append(names, a.actions[i].id)
	}
	if near := config.Nearest(name, names); near != "" {
		return fmt.Errorf("%w: %q; did you mean %q?", errCommand, name, near)
	}
	return fmt.Errorf("%w: %q", errCommand, name)
}

// splitWords parts a line at blanks. Errors: errUsage.
func splitWords(line string) ([]string, error) {
	out, err := words.Split(line)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return out, nil
}

// completions returns whole lines that the typed one may become.
func (a *app) completions(line string) []string {
	typed, err := splitWords(line)
	if err != nil || len(typed) == 0 {
		return nil
	}
	c := a.command(typed[0])
	if c == nil || c.complete == nil || len(typed) == 1 && !strings.HasSuffix(line, " ") {
		return nil
	}
	args := typed[1:]
	if strings.HasSuffix(line, " ") {
		args = append(args, "")
	}
	last := args[len(args)-1]
	var out []string
	for _, v := range c.complete(a, args) {
		if strings.HasPrefix(strings.ToLower(v), strings.ToLower(last)) {
			line := append(slices.Clone(typed[:1]), args[:len(args)-1]...)
			for i := range line {
				line[i] = words.Quote(line[i])
			}
			out = append(out, strings.Join(append(line, words.Quote(v)), " "))
		}
	}
	return out
}
