// Package react has the types of reactions, rules, runs and requests, and the policy that decides
// what a run may do. An event that matches a rule becomes a member of a run. A run is judged,
// approved where that is needed, and carried out once.
//
// The package is pure: no I/O and no clock. [Judge] is the policy, [Compile] prepares rules for
// matching, [Watch] is the window of a rule. Package engine reads the log and keeps the
// journal; package act carries out acts.
package react

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"eventdeck/host/event"
)

// Rule is one rule of rules.json with its defaults filled in (contracts.md, Reactions).
type Rule struct {
	Name string // [a-z0-9-]{1,40}
	On   Source
	When string   // a filter (package filter); "" takes every record of the source
	Key  []string // paths whose values divide the members into groups; none: one group
	// Wait is how long a run gathers members after its first.
	Wait time.Duration
	Once Once
	// Age is how late a replayed record may be and still start an act without approval, from the
	// newest event of its subscription that was not replayed; 0: any. For a later one the run at
	// most asks.
	Age    time.Duration
	Mode   Mode
	Window Window
	Limits Limits
	Do     Do

	// Where is file:line:column of the rule, for verdicts and messages; Lines has the same
	// for each member that the file sets, by its name ("mode", "limits.runs").
	Where string
	Lines map[string]string
}

// Line returns file:line:column of a member of the rule, or of the rule itself where the file
// does not set the member.
func (r *Rule) Line(member string) string {
	if line, ok := r.Lines[member]; ok {
		return line
	}
	return r.Where
}

// Source is what a rule listens to: event types of one server, by its exact name, so that no
// other server can fire the rule by copying a payload.
type Source struct {
	Server string     `json:"server"`
	Types  Types      `json:"type"`
	Kind   event.Kind `json:"kind,omitempty"` // KindEvent or KindGap
}

// Takes reports whether a record is of the source.
func (s Source) Takes(r *event.Record) bool {
	return r.Kind == cmp.Or(s.Kind, event.KindEvent) && s.Covers(r)
}

// Covers reports whether a record, of any kind, is of the server and types of the source.
func (s Source) Covers(r *event.Record) bool {
	return s.Server == r.Server && (s.Types.Match(r.Name().Raw()) || s.Types.Match(r.Type.Raw()))
}

// Types are patterns of event names, or of the types that were subscribed to; see
// [event.NameMatches]. As JSON a single one is a string, several are a list.
type Types []string

// Match reports whether one of the patterns matches a name.
func (t Types) Match(name string) bool {
	return slices.ContainsFunc(t, func(pattern string) bool { return event.NameMatches(pattern, name) })
}

// String returns the patterns for a message.
func (t Types) String() string { return strings.Join(t, ", ") }

// MarshalJSON implements [json.Marshaler].
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Types) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		*t = make(Types, 1)
		return json.Unmarshal(raw, &(*t)[0])
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

// Mode is how much a rule may do without the operator.
type Mode string

// The modes, from the strictest.
const (
	ModeShadow Mode = "shadow" // records what it would do, and does nothing
	ModeAsk    Mode = "ask"    // the operator approves each act
	ModeAuto   Mode = "auto"   // acts, as far as the policy allows
)

// Once keeps an act from being repeated for the same value: after an act was started or
// denied, members with the same values at the paths By start nothing during For. The zero
// value allows every act.
type Once struct {
	By  []string
	For time.Duration
}

// Window lets a rule fire on a number of events, or on their absence. At most one kind is set;
// with the zero value the rule fires for each group of members.
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

// Limits bound what a rule may use; zero is no limit. The limits of the file bound all rules
// together.
type Limits struct {
	Runs    Rate          // starts of acts
	Running int           // acts at the same time
	Queue   int           // waiting runs; further members join the newest
	Spend   int64         // micro-dollars per run
	Tokens  int           // of models, per run
	Time    time.Duration // of one act
}

// Rate is a number of starts per sliding time span. The zero value is no limit.
type Rate struct {
	N   int
	Per time.Duration
}

// Do is the act of a rule. Exactly one member is set.
type Do struct {
	Command *Command
	Webhook *Webhook
	Note    string // marks the record with this text, and alerts
	Task    *Task
	Choice  *Choice
	Agent   *Agent
	Wish    *ClientRequest // only in runs of [ClientRule], never in a file
}

// Tools returns the tools that a model or an agent may call in the act, and the flows that are
// allowed between their servers.
func (d Do) Tools() ([]Tool, []Flow) {
	switch {
	case d.Task != nil:
		return d.Task.Tools, d.Task.Flows
	case d.Agent != nil:
		return d.Agent.Tools, d.Agent.Flows
	}
	return nil, nil
}

// Commands returns the programs that the act may start.
func (d Do) Commands() (all []*Command) {
	switch {
	case d.Command != nil:
		return []*Command{d.Command}
	case d.Agent != nil:
		return []*Command{&d.Agent.Command}
	case d.Choice != nil:
		for _, a := range d.Choice.Acts {
			all = append(all, a.Do.Commands()...)
		}
	}
	return all
}

// Command is a program that is started without a shell.
type Command struct {
	Argv  []string // the first is an absolute path
	Stdin Stdin
	Env   []string // names of the environment variables that it gets
	Dir   string   // working directory; "": a new private one
	// RepeatSafe: if it is unknown whether the command ran, it is run again.
	RepeatSafe bool
	// Code are absolute paths of directories that are pinned with the program, and run with it
	// from a private copy.
	Code []string
	// Confine restricts what the command can reach; nil: it is not confined.
	Confine *Confine
	// Trusted allows mode auto without confinement.
	Trusted bool
}

// Stdin is how the members of a run are given to a command.
type Stdin string

// The forms of standard input.
const (
	StdinEnvelope Stdin = "envelope" // one envelope (package handoff)
	StdinNDJSON   Stdin = "ndjson"   // one record per line, as `events --json` prints it
)

// Confine says what a command may reach besides the system's programs and libraries.
type Confine struct {
	Read  []string `json:"read,omitempty"`  // absolute paths, with everything below them
	Write []string `json:"write,omitempty"` // absolute paths, with everything below them
	Net   bool     `json:"net"`
}

// Webhook is a request to an address that the operator chose, signed as Standard Webhooks
// specifies.
type Webhook struct {
	URL string
	// Secret as it is in the file: ${NAME}. It is expanded when the request is sent.
	Secret string
	// Private allows an address in a private network.
	Private bool
}

// MaxFile is the largest size of rules.json, in bytes.
const MaxFile = 1 << 20

// File is the content of a valid rules.json.
type File struct {
	Path   string
	Models []Model // in the order of the file
	Rules  []Rule  // in the order of the file
	Limits Limits  // of all rules together
	// Lines has file:line:column of the members that the file sets outside of its rules, by
	// name ("limits.runs").
	Lines map[string]string
}

// Line returns file:line:column of a member of the file, or "" where it has its default.
func (f *File) Line(member string) string { return f.Lines[member] }

// Hash identifies what the operator arms: SHA-256 over the canonical JSON of the rule with its
// defaults, ${} unexpanded, and over path and bytes of its command, in hexadecimal.
type Hash string

// Key names the group of a record: the values at the rule's key paths, as JSON and byte for
// byte, separated by commas; a missing value is "(none)". A key longer than [KeyBytes], or not
// UTF-8, is replaced by its SHA-256. A rule without key paths has one group, "".
type Key string

// NoValue stands in a [Key] for a value that the record does not have.
const NoValue = "(none)"

// Frozen is the canonical JSON of a rule at the time its run was created.
type Frozen = json.RawMessage
