package react

import (
	"strings"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// quoted returns a text in ASCII, with all other characters escaped, so that different texts look
// different.
func quoted(s string) string {
	var b strings.Builder
	for _, l := range trust.Escaped(trust.Untrusted(s), 0) {
		b.WriteString(l.Plain())
	}
	return b.String()
}

// requestText describes a request in one line, "" for nil.
func requestText(r *react.Request) string {
	if r == nil {
		return ""
	}
	switch r.Kind {
	case react.RequestCommand:
		args := make([]string, len(r.Argv))
		for i, arg := range r.Argv {
			if args[i] = quoted(arg); strings.ContainsAny(arg, " \"'") || arg == "" {
				args[i] = `"` + args[i] + `"`
			}
		}
		return strings.Join(args, " ")
	case react.RequestWebhook:
		return "send to " + quoted(r.URL)
	case react.RequestModel, react.RequestChoice, react.RequestAgent:
		who := string(r.Kind)
		if r.Model != nil {
			who += " " + quoted(r.Model.Name)
		}
		if len(r.Argv) > 0 {
			who += " " + quoted(r.Argv[0])
		}
		return who + ": " + quoted(r.Task)
	case react.RequestTool:
		return "call " + quoted(r.Server) + "/" + quoted(r.Tool) + " " + quoted(string(r.Input))
	case react.RequestClient:
		return clientRequestText(r.Wish)
	case react.RequestPermit:
		return "let an agent go on; it says: " + quoted(r.Title.Raw())
	}
	return string(r.Kind) + " " + quoted(r.Note)
}

// clientRequestText describes a client request in one line.
func clientRequestText(w *react.ClientRequest) string {
	what := quoted(w.Server) + "/" + quoted(w.Type.Raw())
	if args := string(w.Args); args != "{}" && args != "" {
		what += " " + quoted(args)
	}
	switch w.Act {
	case react.ClientBegin:
		return "subscribe " + what + " by " + string(w.Mode)
	case react.ClientEnd:
		return "unsubscribe " + what
	case react.ClientChange:
		return "change " + string(w.Sub) + " to " + what + " by " + string(w.Mode)
	}
	return string(w.Act) + " " + what
}

// group returns the group of a run, "" if its rule forms none.
func group(k react.Key) trust.Rendered { return trust.Line(trust.Untrusted(string(k))) }
