package react

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"eventdeck/host/trust"
)

// RunID names a run: lower-case base32 of a hash over namespace, rule, group and the
// sequence number of its first member. It is also the id of its webhook.
type RunID string

// NewRunID returns the id that follows from some parts: others give another id.
func NewRunID(parts ...string) RunID {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return RunID(strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:16])))
}

// Namespace keeps apart why a run was made.
type Namespace string

// The namespaces.
const (
	Live   Namespace = "live"   // a record arrived
	Manual Namespace = "manual" // the operator had a rule act on a record, or act again
	Client Namespace = "client" // a client of this host as an MCP server asked for it
)

// State says how far a run is.
type State string

// The states of runs (contracts.md, Reactions).
const (
	Gathering  State = "gathering"  // members may join until Due
	Asking     State = "asking"     // waits for the operator until Due
	Ready      State = "ready"      // starts as soon as the limits allow, not before Due
	Running    State = "running"    // begun; its outcome is not known yet
	Done       State = "done"       // ended well
	Failed     State = "failed"     // ended badly
	Suppressed State = "suppressed" // nothing was to be done; Why tells
	Denied     State = "denied"     // the operator said no
	Expired    State = "expired"    // it was not approved in time
	Dead       State = "dead"       // all tries of a webhook failed
	Parked     State = "parked"     // it is not known whether the act was done
	Killed     State = "killed"     // ended by the stop switch
	WouldRun   State = "would-run"  // a rule in shadow would have acted
)

// Ends returns the states in which a run may end.
func Ends() []State {
	return []State{Done, Failed, Suppressed, Denied, Expired, Dead, Parked, Killed, WouldRun}
}

// Over reports whether nothing more happens to a run in this state by itself.
func (s State) Over() bool {
	switch s {
	case Gathering, Asking, Ready, Running:
		return false
	}
	return true
}

// Run is a reaction to one group of records.
type Run struct {
	ID     RunID     `json:"id"`
	NS     Namespace `json:"ns"`
	Rule   string    `json:"rule"`
	Hash   Hash      `json:"hash"`   // of the rule as it was
	Frozen Frozen    `json:"frozen"` // the rule as it was
	Key    Key       `json:"key,omitempty"`

	Members Members `json:"members"`
	// Pins are the tools with which the rule was armed, for [Runner.Prepare]; nil: it is not
	// armed.
	Pins []Pinned `json:"-"`
	// Stale: a member was too old to start an act by itself. Flagged: a member's
	// payload was noticed by the scanner, or the act did what it had no leave for.
	Stale   bool `json:"stale,omitempty"`
	Flagged bool `json:"flagged,omitempty"`

	State State `json:"state"`
	// Why says in our words what led to the state; Line is the line of configuration
	// that did (file:line:column), or empty.
	Why  string `json:"why,omitempty"`
	Line string `json:"line,omitempty"`

	// Request is the exact act, made when the run leaves gathering; an approval is bound
	// to its hash.
	Request *Request `json:"request,omitempty"`
	// Began is the request with which the run began, where Request is a later step of it.
	Began *Request `json:"began,omitempty"`
	// Steps is how many steps the run took.
	Steps int `json:"steps,omitempty"`
	// Approved is the hash that was approved, By whom ("operator", "grant").
	Approved string `json:"approved,omitempty"`
	By       string `json:"by,omitempty"`
	Reason   string `json:"reason,omitempty"` // of a denial or a settlement, the operator's

	Attempt int     `json:"attempt,omitempty"`
	Handle  *Handle `json:"handle,omitempty"` // of the attempt that runs
	Result  *Result `json:"result,omitempty"` // of the last attempt

	Created time.Time `json:"created"`
	Due     time.Time `json:"due,omitzero"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Spend   int64     `json:"spend,omitempty"` // micro-dollars
}

// MemberEnds is how many members of a run are kept in full at each end.
const MemberEnds = 50

// Members are the records of a run: the first and the last in full, of those between
// only what sums them up.
type Members struct {
	Count uint64   `json:"count"`
	First []uint64 `json:"first"`          // sequence numbers, at most MemberEnds
	Last  []uint64 `json:"last,omitempty"` // the newest that are not in First, at most MemberEnds
	// From and To are when the first and the last were received.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Top counts the values of short members by path, the most frequent first. A path
	// without counts has too many values to sum anything up.
	Top map[string][]Count `json:"top,omitempty"`
}

// Oldest returns the sequence number of the first member, 0 if there is none.
func (m *Members) Oldest() uint64 {
	if len(m.First) == 0 {
		return 0
	}
	return m.First[0]
}

// Newest returns the sequence number of the last member, 0 if there is none.
func (m *Members) Newest() uint64 {
	for _, seqs := range [][]uint64{m.Last, m.First} {
		if len(seqs) > 0 {
			return seqs[len(seqs)-1]
		}
	}
	return 0
}

// Count is how often a value was met.
type Count struct {
	Value trust.Text `json:"value"`
	N     uint64     `json:"n"`
}

// RequestKind says what a request does.
type RequestKind string

// The kinds of requests.
const (
	RequestCommand RequestKind = "command"
	RequestWebhook RequestKind = "webhook"
	RequestNote    RequestKind = "note"
	RequestModel   RequestKind = "model"  // asks a model, which may call tools
	RequestChoice  RequestKind = "choice" // has a model choose an act
	RequestTool    RequestKind = "tool"   // one call of a tool, in a run that a model or an agent began
	RequestAgent   RequestKind = "agent"  // gives an agent a prompt
	RequestPermit  RequestKind = "permit" // lets an agent do what it asks leave for
	RequestClient  RequestKind = "wish"   // begins or ends a subscription, as a client asked
)

// Grantable reports whether requests of this kind can be approved for a time. What differs
// from run to run by the word of a model, an agent or a client is approved one by one.
func (k RequestKind) Grantable() bool {
	switch k {
	case RequestTool, RequestPermit, RequestClient:
		return false
	}
	return true
}

// Request is an act with everything that decides what it does. Its hash covers every
// member, Input included: approving the hash approves these bytes.
type Request struct {
	Kind RequestKind `json:"kind"`
	Run  RunID       `json:"run"`
	Rule string      `json:"rule"`
	// Seq is the first member of the run, Count how many it has.
	Seq   uint64 `json:"seq"`
	Count uint64 `json:"count"`

	// Of a command.
	Argv    []string `json:"argv,omitempty"`
	Path    string   `json:"path,omitempty"`    // of the program, with links resolved
	Program string   `json:"program,omitempty"` // SHA-256 of the program's bytes, in hexadecimal
	// Interpreters run the program where it is a script: what its first line names, what env
	// finds for it, and so on down to a program that is none. Absent: it is no script.
	Interpreters []Interpreter `json:"interpreters,omitempty"`
	Env          []string      `json:"env,omitempty"`        // names
	Dir          string        `json:"dir,omitempty"`        // "": a new private one
	Confine      *Confine      `json:"confine,omitempty"`    // nil: not confined
	Boundary     string        `json:"boundary,omitempty"`   // the confinement that can be had, in words
	RepeatSafe   bool          `json:"repeatSafe,omitempty"` // see [Command]

	// Of a webhook.
	URL     string `json:"url,omitempty"`
	Secret  string `json:"secret,omitempty"` // as the rule says it, ${NAME}
	Private bool   `json:"private,omitempty"`

	Note string         `json:"note,omitempty"` // of a note
	Wish *ClientRequest `json:"wish,omitempty"` // what a client asked for

	// Of a model, a choice and an agent; an agent has those of a command too.
	Model   *Model   `json:"model,omitempty"` // as the file names it, its key unexpanded
	Task    string   `json:"task,omitempty"`
	Tools   []Pinned `json:"tools,omitempty"`
	Flows   []Flow   `json:"flows,omitempty"`
	Choices []Act    `json:"choices,omitempty"`
	Spend   int64    `json:"spend,omitempty"`  // micro-dollars that the run may cost; 0: not bounded by the rule
	Tokens  int      `json:"tokens,omitempty"` // that the run may use
	Keep    bool     `json:"keep,omitempty"`   // see [Agent]
	// Origin is the server of the records, of an agent whose conversation is kept: what it
	// heard of one server must not come to light in a run about another.
	Origin string `json:"origin,omitempty"`

	// Of a tool; Input holds the exact arguments. Of a permit Title is what the agent says
	// that it wants to do, and Input the call as it describes it: nothing of it is proved.
	Step   int        `json:"step,omitempty"`
	Server string     `json:"server,omitempty"`
	Tool   string     `json:"tool,omitempty"`
	Class  ToolClass  `json:"class,omitempty"`
	Pin    string     `json:"pin,omitempty"` // of the tool's description
	Title  trust.Text `json:"title,omitempty"`
	// Act is what a model chose; the other members say what it does, and Input holds the
	// arguments.
	Act string `json:"act,omitempty"`

	// Input is what goes to standard input or into the body.
	Input []byte        `json:"input,omitempty"`
	Time  time.Duration `json:"time"` // after which it is ended
}

// Interpreter is a program that the system starts in place of a script.
type Interpreter struct {
	Name    string `json:"name"`    // its absolute path, as it was named or found
	Path    string `json:"path"`    // the same with links resolved
	Program string `json:"program"` // SHA-256 of its bytes, in hexadecimal
}

// Handle is what is stored of an attempt before it begins, and finds it again after a
// restart of the host.
type Handle struct {
	Attempt int       `json:"attempt"`
	PID     int       `json:"pid,omitempty"` // of the supervisor
	Dir     string    `json:"dir,omitempty"` // with its lock and its result
	At      time.Time `json:"at"`
}

// Outcome says what became of an attempt.
type Outcome string

// WebhookTries is how often a webhook is sent, within an hour, before its run is dead.
const WebhookTries = 6

// The outcomes.
const (
	OutcomeDone   Outcome = "done"   // it ended well
	OutcomeFailed Outcome = "failed" // it ended badly
	// OutcomeRetry: a webhook failed and may be sent again, not before After; the run is
	// dead when that was the try number [WebhookTries].
	OutcomeRetry   Outcome = "retry"
	OutcomeNever   Outcome = "never-started" // it is certain that nothing was begun
	OutcomeUnknown Outcome = "unknown"       // it may have been done
	OutcomeKilled  Outcome = "killed"        // the stop switch ended it
	// OutcomeAsks: the attempt is over and the run goes on with Next, once the policy or
	// the operator allows it.
	OutcomeAsks Outcome = "asks"
)

// Result is what is known of an attempt that is over.
type Result struct {
	Outcome Outcome       `json:"outcome"`
	Exit    int           `json:"exit,omitempty"`    // of a command; -1: a signal ended it
	Status  int           `json:"status,omitempty"`  // of a webhook
	After   time.Duration `json:"after,omitempty"`   // before which it must not be tried again
	Why     string        `json:"why,omitempty"`     // our words
	Flagged bool          `json:"flagged,omitempty"` // it did what it had no leave for: the run is flagged
	Ended   time.Time     `json:"ended"`
	// Output is the head and the tail of what the act printed or answered.
	Output Output `json:"output,omitzero"`
	// Boundary is the confinement that was reached, in words.
	Boundary string `json:"boundary,omitempty"`
	// Next is what the run asks for, of OutcomeAsks.
	Next *Request `json:"next,omitempty"`
	// Answer is what a model or an agent said last. It is never interpreted.
	Answer trust.Text `json:"answer,omitempty"`
}

// Output is what an act printed: the first and the last bytes of each stream, and how
// many there were.
type Output struct {
	Stdout, Stderr Stream
}

// Stream is the head and the tail of a text of Bytes bytes.
type Stream struct {
	Head, Tail trust.Text
	Bytes      int64
}
