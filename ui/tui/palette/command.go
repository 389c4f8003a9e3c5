package palette

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/config"
	"eventdeck/ui/tui/evidence"
)

// ActionCommand is a command that is typed in the palette.
type ActionCommand struct {
	Name  string
	Usage string // its arguments
	Title string
	Also  string // more words under which the palette finds it
	// Dangerous commands change what servers or the store hold.
	Dangerous bool
	When      func() bool // whether it is listed; nil: always
	// Run runs it. A bare [ErrUsage] is replaced by one that names Usage.
	Run func(words []string) (tea.Cmd, error)
	// Complete returns candidates for the last word; nil: there are none.
	Complete func(words []string) []string
}

// ErrCommand says that no command or action has the typed name.
var ErrCommand = errors.New("no such command")

// ErrKeyOnly says that an action is run by its key only.
var ErrKeyOnly = errors.New("not by its name")

// ErrUsage says that a command got wrong arguments.
var ErrUsage = evidence.ErrUsage

// Command returns a command by its name, nil if there is none.
func (t *Table) Command(name string) *ActionCommand {
	for i := range t.Commands {
		if t.Commands[i].Name == name {
			return &t.Commands[i]
		}
	}
	return nil
}

// Titled returns the action whose title begins with a line of at least two words, nil if there is
// none: "ask a model" is the action of that title and not the command "ask".
func (t *Table) Titled(line string) *Action {
	if line = strings.ToLower(strings.TrimSpace(line)); len(strings.Fields(line)) < 2 {
		return nil
	}
	for i := range t.Actions {
		if strings.HasPrefix(strings.ToLower(t.Actions[i].Title), line) {
			return &t.Actions[i]
		}
	}
	return nil
}

// Usage returns an [ErrUsage] that names the arguments of a command.
func (t *Table) Usage(name string) error {
	return fmt.Errorf("%w: %s %s", ErrUsage, name, t.Command(name).Usage)
}

// Execute runs a typed line: the beginning of an action's title, a command, or the id of an
// action.
//
// Errors: [ErrUsage], [ErrCommand], [ErrReadOnly], [ErrKeyOnly], those of the command, and one
// without a name if the action does not work here.
func (t *Table) Execute(line string) (tea.Cmd, error) {
	if x := t.Titled(line); x != nil {
		line = x.ID
	}
	words, err := Split(line)
	if err != nil || len(words) == 0 {
		return nil, err
	}
	if c := t.Command(words[0]); c != nil {
		if c.Dangerous && t.ReadOnly {
			return nil, ErrReadOnly
		}
		cmd, err := c.Run(words[1:])
		if err == ErrUsage { // without the arguments of the command
			err = t.Usage(c.Name)
		}
		return cmd, err
	}
	if x := t.Find(words[0]); x != nil {
		switch {
		case len(words) > 1:
			return nil, t.noArguments(x.ID)
		case x.Dangerous && t.ReadOnly:
			return nil, ErrReadOnly
		case !t.Works(x) && x.Needs != "":
			return nil, errors.New(t.needs(x, x.ID))
		case !t.Works(x):
			return nil, fmt.Errorf("%q does not work here", x.ID)
		}
		if x.KeyOnly {
			return nil, fmt.Errorf("%w: %s works by its key only", ErrKeyOnly, x.ID)
		}
		return x.Run(), nil
	}
	return nil, t.unknown(words[0])
}

// noArguments returns the error of an action that got arguments. It names the command
// for the same action that takes arguments, if there is one.
func (t *Table) noArguments(id string) error {
	for _, c := range t.Commands {
		if c.Title == id {
			return fmt.Errorf("%w: %s takes no words; with words it is: %s %s", ErrUsage, id, c.Name, c.Usage)
		}
	}
	return fmt.Errorf("%w: %s takes no words", ErrUsage, id)
}

func (t *Table) unknown(name string) error {
	var names []string
	for i := range t.Commands {
		names = append(names, t.Commands[i].Name)
	}
	for i := range t.Actions {
		names = append(names, t.Actions[i].ID)
	}
	if near := config.Nearest(name, names); near != "" {
		return fmt.Errorf("%w: %q; did you mean %q?", ErrCommand, name, near)
	}
	return fmt.Errorf("%w: %q", ErrCommand, name)
}

// Split splits a line into words, with quotes. Error: [ErrUsage].
func Split(line string) ([]string, error) {
	out, err := evidence.Split(line)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return out, nil
}

// Completions returns the whole lines that a typed line can be completed to.
func (t *Table) Completions(line string) []string {
	typed, err := Split(line)
	if err != nil || len(typed) == 0 {
		return nil
	}
	c := t.Command(typed[0])
	if c == nil || c.Complete == nil || len(typed) == 1 && !strings.HasSuffix(line, " ") {
		return nil
	}
	args := typed[1:]
	if strings.HasSuffix(line, " ") {
		args = append(args, "")
	}
	last := args[len(args)-1]
	var out []string
	for _, v := range c.Complete(args) {
		if strings.HasPrefix(strings.ToLower(v), strings.ToLower(last)) {
			line := append(slices.Clone(typed[:1]), args[:len(args)-1]...)
			for i := range line {
				line[i] = evidence.Quote(line[i])
			}
			out = append(out, strings.Join(append(line, evidence.Quote(v)), " "))
		}
	}
	return out
}
