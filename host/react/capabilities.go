package react

import (
	"fmt"
	"slices"
)

// Capabilities is what an act could do with its input, by the Rule of Two (Meta, 2025): of untrusted
// input (A), private data (B) and an external effect (C), an act may have at most two without a
// human. Every act that reads events has A.
type Capabilities struct {
	Letters string // "A C"; "" for an act without input
	Best    Mode   // the most that the start of the act may be: ModeAuto or ModeAsk
	Why     string // reason for ModeAsk
	// Calls names each tool whose calls always ask, whatever the mode, and says why.
	Calls []string
}

// CapabilitiesOf returns what an act could do that reads events of a server.
func CapabilitiesOf(do Do, server string) Capabilities {
	switch {
	case do.Command != nil:
		return commandCapabilities(do.Command)
	case do.Webhook != nil:
		return Capabilities{Letters: "A C", Best: ModeAuto}
	case do.Task != nil:
		return toolsCapabilities(do.Task.Tools, do.Task.Flows, server)
	case do.Choice != nil:
		return Capabilities{Letters: "A", Best: ModeAuto} // each act has capabilities and a mode of its own
	case do.Agent != nil:
		s := toolsCapabilities(do.Agent.Tools, do.Agent.Flows, server)
		s.Letters, s.Best, s.Why = "A B C", ModeAsk, "an agent acts on what it reads: its start is asked about"
		return s
	}
	return Capabilities{Best: ModeAuto}
}

func commandCapabilities(c *Command) Capabilities {
	s := Capabilities{Letters: "A", Best: ModeAuto}
	// Every command can read the system's configuration and the command lines of all
	// processes; with network access it could send them away.
	private := c.Confine == nil || len(c.Confine.Read) > 0 || c.Confine.Net
	effect := c.Confine == nil || len(c.Confine.Write) > 0 || c.Confine.Net
	if private {
		s.Letters += " B"
	}
	if effect {
		s.Letters += " C"
	}
	switch {
	case !private || !effect || c.Trusted:
	case c.Confine == nil:
		s.Best, s.Why = ModeAsk, "the command is not confined: it can read and change what you can; auto needs confine, or trusted"
	default:
		s.Best, s.Why = ModeAsk, "the command takes in events, reads files and has an effect outside; auto needs less of it, or trusted"
	}
	return s
}

// toolsCapabilities returns what a model with tools could do. Results of tools are private data. A call
// that may change something is an external effect, and so is a call whose arguments may carry
// content of one server to another. Each such call asks.
func toolsCapabilities(tools []Tool, flows []Flow, server string) Capabilities {
	s := Capabilities{Letters: "A", Best: ModeAuto}
	if len(tools) == 0 {
		return s
	}
	s.Letters = "A B"
	from := []string{server}
	for _, t := range tools {
		if !slices.Contains(from, t.Server) {
			from = append(from, t.Server)
		}
	}
	for _, t := range tools {
		name := t.Server + "/" + t.Name
		if t.Class != ToolRead {
			s.Calls = append(s.Calls, name+": it may change something")
			continue
		}
		for _, f := range from {
			if f != t.Server && !slices.Contains(flows, Flow{From: f, To: t.Server}) {
				s.Calls = append(s.Calls, fmt.Sprintf("%s: its arguments may carry what %s told; flows has no %q", name, f, f+">"+t.Server))
				break
			}
		}
	}
	if len(s.Calls) > 0 {
		s.Letters = "A B C"
	}
	return s
}
