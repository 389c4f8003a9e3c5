// Package react is the vocabulary of reactions: what a rule says, what a run is, what
// may act. An event that meets a rule becomes a member of a run; a run is decided,
// perhaps approved, and carried out once.
//
// The package is pure: values and rules, no I/O, no clock. [Judge] is the policy, [Compile]
// makes rules ready for records, [Watch] is the window of a rule. Its neighbours do the work:
// package engine reads the log and keeps the journal, package act carries out.
package react

import (
	"encoding/json"
	"time"

	"eventdeck/host/event"
)

// Rule is one reaction of the operator, as rules.json says it with its defaults put in
// (contracts.md, Reactions).
type Rule struct {
	Name string // [a-z0-9-]{1,40}
	On   Source
	When string   // a filter (package filter); "" takes every record of the source
	Key  []string // paths whose values part the members into groups; none: one group
	// Wait is how long a run gathers members after the first one.
	Wait time.Duration
	Once Once
	// Age is how long after its first possible arrival a record may still start an act
	// by itself; an older one asks at most.
	Age    time.Duration
	Mode   Mode
	Window Window
	Limits Limits
	Do     Do

	// Where is file:line:column of the rule, for verdicts and messages; Lines are those
	// of the members that the file sets, by their names ("mode", "limits.runs").
	Where string
	Lines map[string]string
}

// Line returns file:line:column of a member of the rule: of the rule, where the member
// has its default.
func (r *Rule) Line(member string) string {
	if line, ok := r.Lines[member]; ok {
		return line
	}
	return r.Where
}

// Source is what a rule listens to: one type of one server, by their exact names, so
// that no other server can fire it by copying a payload.
type Source struct {
	Server string     `json:"server"`
	Type   string     `json:"type"`
	Kind   event.Kind `json:"kind,omitempty"` // KindEvent or KindGap
}

// Mode is how much a rule may do by itself.
type Mode string

// The modes, from the strictest.
const (
	ModeShadow Mode = "shadow" // decides and records, and does nothing
	ModeAsk    Mode = "ask"    // the operator approves each act
	ModeAuto   Mode = "auto"   // acts, as far as the policy allows
)

// Once keeps an act from being repeated for the same value: after an act has started or
// was denied, members with the same values of By start nothing for a time. The zero value
// allows every act.
type Once struct {
	By  []string
	For time.Duration
}

// Window lets a rule fire on many events, or on none. At most one kind is set; the zero
// value fires for each group of members.
type Window struct {
	// Count members of one group within the time, the newest included.
	Count  int
	Within time.Duration
	// Rate members or more per time, over a sliding span of it.
	Rate int
	Per  time.Duration
	// Absent: no member for this long, while the subscription was live or polling.
	Absent time.Duration
}

// IsZero reports whether a rule has no window.
func (w Window) IsZero() bool { return w == Window{} }

// Limits bound what a rule may use. Members that are zero are not bounded by the rule;
// the limits of the file bound all rules together.
type Limits struct {
	Runs    Rate          // acts that start
	Running int           // acts at the same time
	Queue   int           // runs that wait; a further member joins the last one
	Spend   int64         // micro-dollars a run
	Tokens  int           // of models, a run
	Time    time.Duration // of one act
}

// Rate is a number of times in a sliding span. The zero value is no bound.
type Rate struct {
	N   int
	Per time.Duration
}

// Do is the act of a rule: exactly one member is set.
type Do struct {
	Command *Command
	Webhook *Webhook
	Note    string // marks the record with this text, and alerts
	Task    *Task
	Choice  *Choice
	Agent   *Agent
	Wish    *ClientRequest // of runs under [ClientRule] alone; no file has it
}

// Tools returns the tools that the act lets a model or an agent call, and what may flow between
// their servers.
func (d Do) Tools() ([]Tool, []Flow) {
	switch {
	case d.Task != nil:
		return d.Task.Tools, d.Task.Flows
	case d.Agent != nil:
		return d.Agent.Tools, d.Agent.Flows
	}
	return nil, nil
}

// Command is a program that is started without a shell.
type Command struct {
	Argv  []string // the first is an absolute path
	Stdin Stdin
	Env   []string // names of variables that are handed on
	Dir   string   // working directory; "": a new private one
	// RepeatSafe: when it is not known whether the command ran, it runs again.
	RepeatSafe bool
	// Confine bounds what the command can reach; nil: nothing is bounded.
	Confine *Confine
	// Trusted lets the rule be auto without confinement.
	Trusted bool
}

// Stdin is how the members of a run are given to a command.
type Stdin string

// The forms of standard input.
const (
	StdinEnvelope Stdin = "envelope" // one envelope (package handoff)
	StdinNDJSON   Stdin = "ndjson"   // a stored record a line, as `events --json` prints it
)

// Confine says what a command may reach beside the system's programs and libraries.
type Confine struct {
	Read  []string `json:"read,omitempty"`  // absolute paths, with all below them
	Write []string `json:"write,omitempty"` // absolute paths, with all below them
	Net   bool     `json:"net"`
}

// Webhook is a request that is sent to an address of the operator's, signed as Standard
// Webhooks says.
type Webhook struct {
	URL string
	// Secret as the file says it: ${NAME}. It is put in when the request is made.
	Secret string
	// Private allows an address in a private network.
	Private bool
}

// MaxFile is how long rules.json may be, in bytes.
const MaxFile = 1 << 20

// File is a rules.json that was read without a mistake.
type File struct {
	Path   string
	Models []Model // in the order of the file
	Rules  []Rule  // in the order of the file
	Limits Limits  // of all rules together
	// Lines are file:line:column of the members that the file sets beside its rules, by
	// their names ("limits.runs").
	Lines map[string]string
}

// Line returns file:line:column of a member of the file, or "" where it has its default.
func (f *File) Line(member string) string { return f.Lines[member] }

// Hash is what a rule is armed by: SHA-256 over the canonical JSON of the rule after its
// defaults, with ${} unexpanded, and over path and bytes of its command, in hexadecimal.
type Hash string

// Key is the group of a record: the values at the rule's key paths as JSON, byte-exact;
// several are parted by commas, one that is missing is "(none)". More than [KeyBytes] of
// it, and what is no UTF-8, stand as their SHA-256. A rule without key paths has the one group "".
type Key string

// NoValue is the group of records without a value at the path.
const NoValue = "(none)"

// Frozen is a rule as it stood when a run was made of it, in canonical JSON.
type Frozen = json.RawMessage
