package react

import (
	"fmt"
	"testing"
)

func TestShapes(t *testing.T) {
	command := func(c *Confine, trusted bool) Do { return Do{Command: &Command{Confine: c, Trusted: trusted}} }
	read, write := func(server string) Tool { return Tool{Server: server, Name: "t", Class: ToolRead} }, func(server string) Tool { return Tool{Server: server, Name: "t", Class: ToolWrite} }
	model := func(flows []Flow, tools ...Tool) Do { return Do{Task: &Task{Tools: tools, Flows: flows}} }
	there, back := Flow{From: "pager", To: "git"}, Flow{From: "git", To: "pager"}
	for _, c := range []struct {
		do      Do
		letters string
		best    Mode
		calls   int
	}{
		{Do{Note: "look"}, "", ModeAuto, 0},
		{Do{Webhook: &Webhook{}}, "A C", ModeAuto, 0},
		{command(nil, false), "A B C", ModeAsk, 0},
		{command(nil, true), "A B C", ModeAuto, 0},
		{command(&Confine{}, false), "A", ModeAuto, 0},
		{command(&Confine{Read: []string{"/srv"}}, false), "A B", ModeAuto, 0},
		{command(&Confine{Write: []string{"/srv"}}, false), "A C", ModeAuto, 0},
		{command(&Confine{Net: true}, false), "A B C", ModeAsk, 0},
		{command(&Confine{Read: []string{"/srv"}, Net: true}, false), "A B C", ModeAsk, 0},
		{model(nil), "A", ModeAuto, 0},
		{Do{Choice: someChoice()}, "A", ModeAuto, 0},
		{model(nil, read("pager")), "A B", ModeAuto, 0},
		{model(nil, read("git")), "A B C", ModeAuto, 1},
		{model([]Flow{there}, read("git")), "A B", ModeAuto, 0},
		{model([]Flow{back}, read("git")), "A B C", ModeAuto, 1},
		{model([]Flow{there}, read("git"), read("pager")), "A B C", ModeAuto, 1},
		{model([]Flow{there, back}, read("git"), read("pager")), "A B", ModeAuto, 0},
		{model([]Flow{there, back}, read("git"), write("pager")), "A B C", ModeAuto, 1},
		{model(nil, write("pager")), "A B C", ModeAuto, 1},
		{Do{Agent: &Agent{Command: Command{Confine: &Confine{}}}}, "A B C", ModeAsk, 0},
		{Do{Agent: &Agent{Command: Command{Trusted: true}, Tools: []Tool{read("pager"), write("git")}}}, "A B C", ModeAsk, 2},
	} {
		t.Run(fmt.Sprintf("%+v", c.do), func(t *testing.T) {
			got := CapabilitiesOf(c.do, "pager")
			if got.Letters != c.letters || got.Best != c.best || (got.Why == "") != (c.best == ModeAuto) || len(got.Calls) != c.calls {
				t.Errorf("got %+v, want %s, %s", got, c.letters, c.best)
			}
		})
	}
}
