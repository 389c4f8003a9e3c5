package react

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"eventdeck/host/trust"
)

// Errors of [Control] that a frontend distinguishes.
var (
	// ErrNoRule: no rule of that name is in force.
	ErrNoRule = errors.New("unknown rule")
	// ErrNoModel: the file names no model of that name.
	ErrNoModel = errors.New("unknown model")
	// ErrNoRun: no run of that id is kept.
	ErrNoRun = errors.New("unknown run")
	// ErrState: this is not possible in the state of the run, which the text names.
	ErrState = errors.New("not possible in this state")
	// ErrSource: the record is of another server or type than the rule listens to.
	ErrSource = errors.New("not of the rule's source")
	// ErrChanged: what would be approved is not what was shown.
	ErrChanged = errors.New("it changed since it was shown")
	// ErrNotEngine: this process does not run reactions; the text says which one does.
	ErrNotEngine = errors.New("reactions do not run here")
	// ErrToken: the caller may not approve, arm or start.
	ErrToken = errors.New("not allowed without the operator's token")
)

// StopFile is the name of a file in the data directory that stops all reactions, even while no
// engine runs: as long as it exists nothing starts, and running acts are killed within a
// second. Its content does not matter.
const StopFile = "react.stop"

// WriteStopFile writes the stop file to a data directory, and returns its path.
func WriteStopFile(dir string) (path string, err error) {
	path = filepath.Join(dir, StopFile)
	return path, os.WriteFile(path, nil, 0o600)
}

// AskRule stands in place of a rule in runs of [Control.AskModel]. No rule can have this name.
const AskRule = "@ask"

// Control is what a frontend can do with reactions. The engine implements it, and so does the
// client of an attached process. All methods may be called from any goroutine.
type Control interface {
	// Reactions returns the present state. It is cheap and does not wait.
	Reactions() View
	// Runs returns runs, newest first.
	Runs(ctx context.Context, q Query) ([]Run, error)
	// Run returns a run with its result. Error: ErrNoRun.
	Run(ctx context.Context, id RunID) (Run, error)
	// Steps returns the steps of a run so far, in order; nil for an act without steps. Error:
	// ErrNoRun.
	Steps(ctx context.Context, id RunID) ([]Step, error)
	// Explain says why a rule did or did not fire on a record; rule "" means every rule.
	// Errors: ErrNoRule; [event.ErrNotFound].
	Explain(ctx context.Context, seq uint64, rule string) ([]Verdict, error)

	// Approve lets an asking run act, if hash is that of its request.
	// Errors: ErrNoRun, ErrState, ErrChanged, ErrToken.
	Approve(ctx context.Context, id RunID, hash string) error
	// Deny ends an asking run, with the operator's reason.
	Deny(ctx context.Context, id RunID, reason string) error
	// Undeny takes a denial back, until the run would have expired.
	Undeny(ctx context.Context, id RunID) error
	// Grant approves a run, and, until a time at most a day away, every run in which the rule
	// as it stands does exactly the same: as if it were armed for that act. Disarm ends the
	// grant. What a model or an agent chose cannot be granted.
	// Errors: those of Approve; ErrState also where a grant is not possible.
	Grant(ctx context.Context, id RunID, hash string, until time.Time) error
	// Retry creates a run of the same members again, in the namespace [Manual].
	Retry(ctx context.Context, id RunID) (RunID, error)
	// Settle records the outcome of a parked run.
	Settle(ctx context.Context, id RunID, done bool, reason string) error
	// Once creates a run of a rule for one record of its source, whatever its filter says.
	// The run asks.
	// Errors: ErrNoRule, ErrSource; [event.ErrNotFound].
	Once(ctx context.Context, rule string, seq uint64) (RunID, error)
	// AskModel creates a run in which a model reads one record, without tools.
	// Errors: ErrNoModel; [event.ErrNotFound].
	AskModel(ctx context.Context, q Question) (RunID, error)

	// ClientRequest asks the operator to decide a client's request, and returns the run that
	// answers it so far: a new one, or an earlier one that still stands ([Run.Stands]).
	// Errors: ErrClientRequests.
	ClientRequest(ctx context.Context, w ClientRequest) (Run, error)

	// Rule returns a rule as Arm takes it: with its tools as their servers describe them now.
	// It waits for the servers.
	// Error: ErrNoRule.
	Rule(ctx context.Context, name string) (RuleView, error)
	// Arm allows the rule as it stands now to act without approval, with its tools as they are
	// described now. hash is the [RuleView.ArmHash] of what the operator saw.
	// Errors: ErrNoRule, ErrChanged, ErrToken.
	Arm(ctx context.Context, rule string, hash Hash) error
	// Disarm makes every act of the rule need an approval, and ends its grants.
	Disarm(ctx context.Context, rule string) error
	// Silence keeps a rule from acting until a time; the zero time ends the silence.
	Silence(ctx context.Context, rule string, until time.Time) error

	// Stop keeps acts from starting; with kill it also ends running acts, within a second. Go
	// lets reactions go on, also after they were held.
	Stop(ctx context.Context, kill bool) error
	Go(ctx context.Context) error
}

// View is the state of the reactions at one moment. It must not be changed.
type View struct {
	// On: the engine runs in this process or in the one it is attached to.
	On      bool
	Path    string // of rules.json
	Fault   string // why the newest file is not in force, as FILE:LINE:COL: cause; see InForce
	Stopped bool
	Held    string // why nothing starts until the operator calls Go; "": it may start
	// Blocked says what the engine cannot read or write, or what is used up, and what it retries
	// by itself: the log, so that records wait undecided, the journal, so that nothing starts, or
	// the start of an act. "": nothing.
	Blocked string
	Rules   []RuleView
	Waiting []Run // asking runs, oldest first
	Active  []Run // gathering, ready and running ones
	Asking  int
	Running int
	// Ended counts the runs that ended since the engine was opened, by state.
	Ended  map[State]uint64
	Models []string // names of the models, in the order of the file
	// Spent are the micro-dollars of today (UTC), reservations for pending calls included;
	// SpendLimit is what all rules together may spend a day.
	Spent, SpendLimit int64
	// Says is the streamed output of models and agents: the newest 4 KiB of each run.
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

// RuleView is a rule with its state.
type RuleView struct {
	Rule     Rule
	Hash     Hash
	Armed    bool // the present hash is armed
	Silenced time.Time
	Granted  time.Time // end of its last grant; zero: there is none
	// Disarmed says why the engine disarmed the rule; "": it did not.
	Disarmed string
	// Tools of the rule as their servers describe them, without those that are not available.
	// Only [Control.Rule] lists them; it sets Listed.
	Tools  []Pinned
	Listed bool
	// Effective is the most that the policy allows the rule now; Why and Line say what led to
	// it.
	Effective  Mode
	Why, Line  string
	Letters    string // of the Rule of Two, e.g. "A C"
	Boundary   string // the confinement of its command, in words
	Since      uint64 // records after this sequence number are judged by it
	Matched    uint64
	Suppressed map[string]uint64 // by cause
	Last       time.Time         // when its newest run was created
	// Unknown maps tools, as server/tool, to the parked run that called them with unknown
	// outcome: the rule cannot call them before that run is settled.
	Unknown map[string]RunID
	// Spent are the micro-dollars of the rule today (UTC).
	Spent int64
	// Approved is the last approved act of the rule, without its input; nil: none was approved
	// yet.
	Approved *Request
}

// Question is what the operator asks a model about one record.
type Question struct {
	Seq   uint64
	Model string // by its name in the file
	Task  string // the instruction
	// Typed: the operator typed the question on the screen that shows the answer. The request
	// is then approved as soon as it is prepared.
	Typed bool
}

// Query selects runs. The zero value selects all, up to the default limit.
type Query struct {
	Rule   string
	States []State
	Seq    uint64    // runs that keep this record in [Members.First] or [Members.Last]
	Since  time.Time // runs created then or later
	Limit  int       // most runs to return; 0: 100
}

// Verdict is what a rule decided, or would decide, about a record.
type Verdict struct {
	Rule  string
	Seq   uint64
	State State // Gathering and Asking stand for "would go on"
	// Elsewhere: the rule listens to another source, and did nothing with the record.
	Elsewhere bool
	Why       string
	Line      string
	Key       Key
	Run       RunID      // that the record is a member of; "": none
	Value     trust.Text // that the filter matched or not, if known
}
