package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/ui/tui/palette"
)

// TestKeysPageIsCurrent compares docs/keys.md with the table of actions. With
// EVENTDECK_WRITE_DOCS=1 it writes the page again.
func TestKeysPageIsCurrent(t *testing.T) {
	page := keysPage(t)
	file := filepath.FromSlash("../../docs/keys.md")
	if os.Getenv("EVENTDECK_WRITE_DOCS") != "" {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != page {
		t.Errorf("docs/keys.md is not current; EVENTDECK_WRITE_DOCS=1 go test ./ui/tui -run TestKeysPage writes it anew")
	}
}

// keysPage returns the reference of keys and commands in Markdown.
func keysPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# Keys and commands

This page is made from the table of actions; do not edit it.

` + "`?` on the screen lists the keys that work where you are, and runs them. `:` finds everything by its name, and takes the commands below." + `

Keys can be changed in ` + "`settings.json`" + ` beside ` + "`servers.json`" + ` (on Linux ` + "`~/.config/eventdeck/settings.json`" + `), by the id of the action. An empty list takes the key away; two keys in a row are parted by a blank. A first key alone, or before a key that does not belong to it, does what it does with ` + "`enter`" + `; that key then means itself. Comments are allowed.

` + "```json" + `
{
  "keys": {
    "subscribe": ["F"],
    "unsubscribe": [],
    "copy.id": ["y i", "ctrl+o"]
  }
}
` + "```" + `

The file is read again when the window gets the focus back, and by ` + "`:settings.reload`" + `. A mistake in it (an unknown action, a key that two actions want) is reported with both places; it never keeps the screen from starting. A key that you choose is taken from the action that has it otherwise.

Actions marked with † change what servers or the store hold; ` + "`--read-only`" + ` hides and refuses them. Those marked with ‡ are done by their key only, where what they do is shown.
`)
	group := ""
	table := open(t, incident(), 160, 45).actionRows()
	for _, x := range palette.ByGroup(table) {
		if x.Group != group {
			group = x.Group
			fmt.Fprintf(&b, "\n## %s\n\n| Keys | Action | Where | Id |\n|---|---|---|---|\n", group)
		}
		sign := ""
		if x.Dangerous {
			sign = " †"
		}
		if x.KeyOnly {
			sign += " ‡"
		}
		fmt.Fprintf(&b, "| %s | %s%s | %s | `%s` |\n", codes(x.Keys), mdCell(x.Title), sign, x.Places(), x.ID)
	}
	b.WriteString("\n## Commands\n\n| Command | What it does |\n|---|---|\n")
	for _, c := range open(t, incident(), 160, 45).commandRows() {
		sign := ""
		if c.Dangerous {
			sign = " †"
		}
		fmt.Fprintf(&b, "| `%s` | %s%s |\n", mdCell(strings.TrimSpace(":"+c.Name+" "+c.Usage)), mdCell(c.Title), sign)
	}
	b.WriteString("\nThe id of an action is a command, too: `:follow`.\n")
	return b.String()
}

func codes(keys []string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = "`" + mdCell(k) + "`"
	}
	return strings.Join(out, " ")
}

// mdCell escapes a text for a cell of a table.
func mdCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
