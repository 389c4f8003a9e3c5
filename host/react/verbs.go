package react

import (
	"context"
	"errors"
	"time"

	"eventdeck/host/trust"
)

// Errors of [Control] that a frontend tells apart.
var (
	// ErrNoRule: no rule of that name is in force.
	ErrNoRule = errors.New("unknown rule")
	// ErrNoModel: the file names no model of that name.
	ErrNoModel = errors.New("unknown model")
	// ErrNoRun: no run of that id is kept.
	ErrNoRun = errors.New("unknown run")
	// ErrState: the run is in a state in which this cannot be done; the text names it.
	ErrState = errors.New("not possible in this state")
	// ErrSource: the record is of another server or type than the rule listens to.
	ErrSource = errors.New("not of the rule's source")
	// ErrChanged: what would be approved is not what was shown.
	ErrChanged = errors.New("it changed since it was shown")
	// ErrNotEngine: this process does not run reactions; the text says which does.
	ErrNotEngine = errors.New("reactions do not run here")
	// ErrToken: the caller may not approve, arm or start.
	ErrToken = errors.New("not allowed without the operator's token")
)

// StopFile is the name of a file in the data directory that stops all reactions, also
// where no engine runs: while it is there nothing starts, and what runs is ended within a
// second. Whatever is in it says nothing.
const StopFile = "react.stop"

// AskRule stands for the rule of runs that ask what the operator typed ([Control.AskModel]).
// It is no name of a rule.
const AskRule = "@ask"

// Control is what an operator does with reactions. The engine implements it, and so
// does the client of an attached process. All methods may be called from any goroutine.
type Control interface {
	// Reactions returns the present state; it is cheap.
	Reactions() View
	// Runs returns runs, newest first.
	Runs(ctx context.Context, q Query) ([]Run, error)
	// Run returns one with its result. Error: ErrNoRun.
	Run(ctx context.Context, id RunID) (Run, error)
	// Steps returns what a run did so far, in order; nil for one that takes no steps. Error:
	// ErrNoRun.
	Steps(ctx context.Context, id RunID) ([]Step, error)
	// Explain says for a record and every rule why it did or did not fire.
	// Errors: ErrNoRule for a name that is not in force; [event.ErrNotFound].
	Explain(ctx context.Context, seq uint64, rule string) ([]Verdict, error)

	// Approve lets a run that asks act, if the hash is that of its request.
	// Errors: ErrNoRun, ErrState, ErrChanged, ErrToken.
	Approve(ctx context.Context, id RunID, hash string) error
	// Deny ends a run that asks, with the operator's reason.
	Deny(ctx context.Context, id RunID, reason string) error
	// Undeny takes a denial back while its run has not expired.
	Undeny(ctx context.Context, id RunID) error
	// Grant approves a run, and until a time, at most a day, what the rule as it stands
	// does exactly the same: as if it were armed for that act. Disarm ends it. What a model
	// or an agent chose is not granted.
	// Errors: those of Approve; ErrState too where a grant is not possible.
	Grant(ctx context.Context, id RunID, hash string, until time.Time) error
	// Retry makes a run of the same members again, in the namespace manual.
	Retry(ctx context.Context, id RunID) (RunID, error)
	// Settle says what became of a run that is parked.
	Settle(ctx context.Context, id RunID, done bool, reason string) error
	// Once has a rule act on one record of its source, whatever its filter says; it asks.
	// Errors: ErrNoRule, ErrSource; [event.ErrNotFound].
	Once(ctx context.Context, rule string, seq uint64) (RunID, error)
	// AskModel has a model read one record, without tools.
	// Errors: ErrNoModel; [event.ErrNotFound].
	AskModel(ctx context.Context, q Question) (RunID, error)

	// ClientRequest has the operator decide what a client asks for, and returns the run that is
	// the answer so far: a new one that asks, or the one that stands ([Run.Stands]).
	// Errors: ErrClientRequests.
	ClientRequest(ctx context.Context, w ClientRequest) (Run, error)

	// Rule returns a rule as Arm takes it: with its tools as their servers describe them now,
	// which takes as long as the servers do.
	// Error: ErrNoRule.
	Rule(ctx context.Context, name string) (RuleView, error)
	// Arm allows the rule as it stands now to act by itself, with its tools as they are
	// described now. Hash is the [RuleView.ArmHash] of what was shown.
	// Errors: ErrNoRule, ErrChanged, ErrToken.
	Arm(ctx context.Context, rule string, hash Hash) error
	// Disarm lets the rule act only when it is approved; its grants end.
	Disarm(ctx context.Context, rule string) error
	// Silence keeps a rule from acting until a time; the zero time ends that.
	Silence(ctx context.Context, rule string, until time.Time) error

	// Stop lets nothing start any more, within a second; with kill also what runs is
	// ended. Go lets it go on, also an engine that is held.
	Stop(ctx context.Context, kill bool) error
	Go(ctx context.Context) error
}

// View is the state of the reactions at one moment. It must not be changed.
type View struct {
	// On: this process or the one it is attached to runs the engine.
	On      bool
	Path    string // of rules.json
	Fault   string // the newest file cannot be used: FILE:LINE:COL: what; the rules of before are in force, if there were some
	Stopped bool
	Held    string // why nothing starts until the operator says go; "" if not
	// Blocked says what the engine cannot read or write, and tries again by itself: the log,
	// then records wait undecided, or the journal, then nothing starts. "": nothing.
	Blocked string
	Rules   []RuleView
	Waiting []Run // that ask, oldest first
	Active  []Run // that gather, are ready or run
	Asking  int
	Running int
	// Ended counts the runs that ended since the engine was opened, by their state.
	Ended  map[State]uint64
	Models []string // of the file, by their names in its order
	// Spent are the micro-dollars of today (UTC), with what is reserved for calls that are
	// out; SpendLimit is what all rules together may spend a day.
	Spent, SpendLimit int64
	// Says is what models and agents say while they say it: the newest 4 KiB of each run.
	Says map[RunID]trust.Text
	// Revision changes with every change.
	Revision uint64
}

// InForce says which rules are in force while the newest file cannot be used.
func (v *View) InForce() string {
	if len(v.Rules) == 0 {
		return "no rule is in force"
	}
	return "the rules of before stay in force"
}

// RuleView is a rule and how it fares.
type RuleView struct {
	Rule     Rule
	Hash     Hash
	Armed    bool // the hash that was armed is that of now
	Silenced time.Time
	Granted  time.Time // until when its last grant goes; zero: there is none
	// Disarmed says why the engine disarmed the rule; "": it did not.
	Disarmed string
	// Tools are those of the rule as their servers describe them, without those that cannot
	// be had. Only [Control.Rule] asks for them: Listed says that it did.
	Tools  []Pinned
	Listed bool
	// Effective is the most that the policy lets the rule do now; Why and Line say what
	// made it so.
	Effective  Mode
	Why, Line  string
	Letters    string // of the Rule of Two, e.g. "A C"
	Boundary   string // the confinement of its command, in words
	Since      uint64 // sequence number from which it is judged
	Matched    uint64
	Suppressed map[string]uint64 // by reason
	Last       time.Time         // of its newest run
	// Unknown are tools, as server/tool, that the rule cannot call before the run is settled
	// that called them: it is not known whether that was carried out.
	Unknown map[string]RunID
	// Spent are the micro-dollars of the rule today (UTC).
	Spent int64
	// Approved is the act of the rule that was approved last, without its input; nil:
	// nothing was approved yet.
	Approved *Request
}

// Question is what the operator asks a model about one record.
type Question struct {
	Seq   uint64
	Model string // by its name in the file
	Task  string // the instruction
	// Typed: the operator typed it where it is asked, and sees its answer there. Then the
	// exact request needs no second word: it is approved as soon as it is made.
	Typed bool
}

// Query selects runs. Zero members select all.
type Query struct {
	Rule   string
	States []State
	Seq    uint64    // runs with this record among their members in full
	Since  time.Time // runs that were made then or later
	Limit  int       // 0: 100
}

// Verdict is what was or would be decided about a record by a rule.
type Verdict struct {
	Rule  string
	Seq   uint64
	State State // Gathering and Asking stand for "would go on"
	// Elsewhere: the rule listens to other events than the record, and did nothing with it.
	Elsewhere bool
	Why       string
	Line      string
	Key       Key
	Run       RunID      // that the record is a member of, if there is one
	Value     trust.Text // that the filter met or missed, if it can be told
}
