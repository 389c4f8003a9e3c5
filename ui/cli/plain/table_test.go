package plain

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTableFitsTheTerminal(t *testing.T) {
	tab := &Table{}
	tab.Add("NAME", "STATE", "WHY")
	tab.Add("pager", "backoff", "cannot connect: the server did not answer within ten seconds")
	tab.Add("界", "ready", "")
	if got := tab.lines(); got != "NAME   STATE    WHY\npager  backoff  cannot connect: the server did not answer within ten seconds\n界     ready\n" {
		t.Errorf("got\n%s", got)
	}
	narrow := tab.wrapped(40)
	for _, line := range strings.Split(narrow, "\n") {
		if ansi.StringWidth(line) > 40 {
			t.Errorf("%d cells: %s", ansi.StringWidth(line), line)
		}
	}
	for _, word := range []string{"pager", "backoff", "cannot", "seconds", "界", "ready"} {
		if !strings.Contains(narrow, word) {
			t.Errorf("%q is gone:\n%s", word, narrow)
		}
	}
}
