package react

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"eventdeck/host/trust"
)

// RunID identifies a run: lower-case base32 of a hash over namespace, rule, group and the
// sequence number of its first member. It is also the id of its webhook message.
type RunID string

// NewRunID derives an id from parts; different parts give different ids.
func NewRunID(parts ...string) RunID {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return RunID(strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:16])))
}

// Namespace says why a run was created.
type Namespace string

// The namespaces.
const (
	Live   Namespace = "live"   // a record arrived
	Manual Namespace = "manual" // the operator created it
	Client Namespace = "client" // a client of eventdeck's own MCP server asked for it
)

// State says how far a run is.
type State string

// The states of runs (contracts.md, Reactions).
const (
	Gathering  State = "gathering"  // members may join until Due
	Asking     State = "asking"     // waits for the operator until Due
	Ready      State = "ready"      // starts as soon as the limits allow, not before Due
	Running    State = "running"    // the act has begun, and its outcome is not known yet
	Done       State = "done"       // ended well
	Failed     State = "failed"     // ended badly
	Suppressed State = "suppressed" // the policy wanted nothing done; see Why
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

// Over reports whether a run in this state has ended. The operator may still act on it.
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
	// Stale: a member was too old to start an act without approval. Flagged: the scanner
	// noticed something in a member's payload, or the act did what it had no permission for.
	Stale   bool `json:"stale,omitempty"`
	Flagged bool `json:"flagged,omitempty"`

	State State `json:"state"`
	// Why says in our own words what led to the state; Line is the place in the configuration
	// that did (file:line:column), or "".
	Why  string `json:"why,omitempty"`
	Line string `json:"line,omitempty"`

	// Request is the exact act, prepared when the run leaves gathering; an approval is bound
	// to its hash.
	Request *Request `json:"request,omitempty"`
	// Began is the request with which the run began, if Request is a later step of the run.
	Began *Request `json:"began,omitempty"`
	// Steps is how many steps the run took.
	Steps int `json:"steps,omitempty"`
	// Approved is the approved hash; By says who approved it ("operator", "grant").
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

// MemberEnds is how many sequence numbers of members a run keeps at each end.
const MemberEnds = 50

// Members are the records of a run: the sequence numbers of the first and the last, and a
// summary of all.
type Members struct {
	Count uint64   `json:"count"`
	First []uint64 `json:"first"`          // sequence numbers, at most MemberEnds
	Last  []uint64 `json:"last,omitempty"` // the newest that are not in First, at most MemberEnds
	// From and To are when the first and the last were received.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Top counts short values of the payloads by path, the most frequent first. A path with
	// too many different values has no counts.
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

// Count is how often a value occurred.
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
	RequestChoice  RequestKind = "choice" // asks a model to choose an act
	RequestTool    RequestKind = "tool"   // one tool call, in a run of a model or an agent
	RequestAgent   RequestKind = "agent"  // prompts an agent
	RequestPermit  RequestKind = "permit" // gives an agent the permission it asks for
	RequestClient  RequestKind = "wish"   // begins or ends a subscription, as a client asked
)

// Grantable reports whether requests of this kind can be approved for a time span. What a
// model, an agent or a client chooses is approved one by one.
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
	Argv []string `json:"argv,omitempty"`
	Files
	Env        []string `json:"env,omitempty"`        // names
	Boundary   string   `json:"boundary,omitempty"`   // the possible confinement, in words
	RepeatSafe bool     `json:"repeatSafe,omitempty"` // see [Command]

	// Of a webhook.
	URL     string `json:"url,omitempty"`
	Secret  string `json:"secret,omitempty"` // as in the rule, ${NAME}
	Private bool   `json:"private,omitempty"`

	Note string         `json:"note,omitempty"` // of a note
	Wish *ClientRequest `json:"wish,omitempty"` // what a client asked for

	// Of a model, a choice and an agent; an agent has those of a command too.
	Model   *Model   `json:"model,omitempty"` // as the file names it, its key unexpanded
	Task    string   `json:"task,omitempty"`
	Tools   []Pinned `json:"tools,omitempty"`
	Flows   []Flow   `json:"flows,omitempty"`
	Choices []Act    `json:"choices,omitempty"`
	Spend   int64    `json:"spend,omitempty"`  // micro-dollars that the run may cost; 0: no limit of the rule
	Tokens  int      `json:"tokens,omitempty"` // that the run may use
	Keep    bool     `json:"keep,omitempty"`   // see [Agent]
	// Origin is the server of the records, for an agent whose conversation is kept: content
	// of one server must not leak into a run about another.
	Origin string `json:"origin,omitempty"`

	// Of a tool; Input holds the exact arguments. Of a permit, Title is what the agent says it
	// wants to do, and Input the call as the agent describes it: nothing of it is verified.
	Step   int        `json:"step,omitempty"`
	Server string     `json:"server,omitempty"`
	Tool   string     `json:"tool,omitempty"`
	Class  ToolClass  `json:"class,omitempty"`
	Pin    string     `json:"pin,omitempty"` // of the tool's description
	Title  trust.Text `json:"title,omitempty"`
	// Act names the act that a model chose; the other members say what it does, and Input
	// holds the arguments.
	Act string `json:"act,omitempty"`

	// Input goes to standard input or into the body.
	Input []byte        `json:"input,omitempty"`
	Time  time.Duration `json:"time"` // time limit of the act
}

// Files are the files and directories of a command, with links resolved: what runs, where, and
// what it may reach. Approving a request and arming a rule cover all of them.
type Files struct {
	Path    string `json:"path,omitempty"`    // of the program
	Program string `json:"program,omitempty"` // SHA-256 of the program's bytes, in hexadecimal
	// Interpreters run the program if it is a script: the one that its first line names, or
	// that env finds, and so on down to a binary. None: the program is a binary.
	Interpreters []Interpreter `json:"interpreters,omitempty"`
	Code         []string      `json:"code,omitempty"` // see [Command]
	// Tree is the SHA-256, in hexadecimal, of the names and bytes of all that runs from a
	// private copy: scripts and Code. "": nothing does.
	Tree    string   `json:"tree,omitempty"`
	Dir     string   `json:"dir,omitempty"`     // "": a new private one
	Confine *Confine `json:"confine,omitempty"` // nil: not confined
}

// Interpreter is a program that runs a script.
type Interpreter struct {
	Name    string   `json:"name"`           // its absolute path, as it was named or found
	Args    []string `json:"args,omitempty"` // between its name and that of the script
	Path    string   `json:"path"`           // Name with links resolved
	Program string   `json:"program"`        // SHA-256 of its bytes, in hexadecimal
}

// Handle is stored before an attempt begins; with it the attempt is found again after a restart
// of the host.
type Handle struct {
	Attempt int       `json:"attempt"`
	PID     int       `json:"pid,omitempty"` // of the supervisor
	Dir     string    `json:"dir,omitempty"` // with its lock and its result
	At      time.Time `json:"at"`
}

// Outcome says how an attempt ended.
type Outcome string

// WebhookTries is the most attempts of a webhook, all within an hour, before its run is dead.
const WebhookTries = 6

// The outcomes.
const (
	OutcomeDone   Outcome = "done"   // it ended well
	OutcomeFailed Outcome = "failed" // it ended badly
	// OutcomeRetry: a webhook failed and may be sent again, not before After; the run is dead
	// after [WebhookTries] attempts.
	OutcomeRetry   Outcome = "retry"
	OutcomeNever   Outcome = "never-started" // it certainly did not begin
	OutcomeScarce  Outcome = "scarce"        // the same, because of [ErrScarce]
	OutcomeUnknown Outcome = "unknown"       // the act may have been done
	OutcomeKilled  Outcome = "killed"        // the stop switch ended it
	// OutcomeAsks: the attempt is over, and the run goes on with Next once the policy or the
	// operator allows it.
	OutcomeAsks Outcome = "asks"
)

// Result is how an attempt ended.
type Result struct {
	Outcome Outcome       `json:"outcome"`
	Exit    int           `json:"exit,omitempty"`    // of a command; -1: a signal ended it
	Status  int           `json:"status,omitempty"`  // of a webhook
	After   time.Duration `json:"after,omitempty"`   // shortest wait before the next attempt
	Why     string        `json:"why,omitempty"`     // in our own words
	Flagged bool          `json:"flagged,omitempty"` // it did what it had no permission for: the run is flagged
	Ended   time.Time     `json:"ended"`
	// Output is what the act printed or answered.
	Output Output `json:"output,omitzero"`
	// Boundary is the confinement that was applied, in words.
	Boundary string `json:"boundary,omitempty"`
	// Next is what the run asks for, with OutcomeAsks.
	Next *Request `json:"next,omitempty"`
	// Answer is the last message of a model or an agent. It is never interpreted.
	Answer trust.Text `json:"answer,omitempty"`
}

// Output is what an act printed, shortened to the beginning and the end of each stream.
type Output struct {
	Stdout, Stderr Stream
}

// Stream is the beginning and the end of a text of Bytes bytes.
type Stream struct {
	Head, Tail trust.Text
	Bytes      int64
}
