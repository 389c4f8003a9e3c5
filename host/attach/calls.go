package attach

import (
	"bytes"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// verb names a request. In is the type of its argument, Out that of its result.
type verb[In, Out any] string

// nothing is the argument or result of a verb that has none: gob has no empty value.
type nothing bool

// The verbs.
const (
	// The state and the log.
	verbState     verb[stateRequest, state]               = "state"
	verbRecords   verb[recordRange, page]                 = "records"
	verbGet       verb[uint64, record]                    = "get"
	verbHasEvent  verb[eventKey, bool]                    = "has"
	verbSubs      verb[nothing, []event.Subscription]     = "subs"
	verbSub       verb[event.SubID, event.Subscription]   = "sub"
	verbAudit     verb[auditRequest, []event.AuditEntry]  = "audit"
	verbSeen      verb[nothing, []event.ServerSeen]       = "seen"
	verbStats     verb[nothing, host.Stats]               = "stats"
	verbRefused   verb[nothing, []event.Refusal]          = "refused"
	verbRemote    verb[string, []host.RemoteSubscription] = "remote"
	verbTypes     verb[string, []event.Type]              = "types"
	verbAnnounced verb[string, []event.Type]              = "announced"
	verbConnected verb[connectRequest, serverAnswer]      = "connected"
	verbPreview   verb[request, host.Preview]             = "preview"
	verbCheck     verb[request, event.Mode]               = "check"
	verbSetting   verb[string, string]                    = "setting"
	verbRetention verb[nothing, event.Retention]          = "retention"
	verbBackup    verb[string, int64]                     = "backup"
	verbAdd       verb[serverName, nothing]               = "add-server"
	verbName      verb[string, string]                    = "address-name"
	verbSignIn    verb[string, signInAnswer]              = "sign-in"
	verbWait      verb[signInWait, nothing]               = "sign-in-wait"

	// Changes.
	verbSubscribe    verb[request, event.Subscription] = "subscribe"
	verbEnd          verb[event.SubID, nothing]        = "unsubscribe"
	verbPause        verb[event.SubID, nothing]        = "pause"
	verbResume       verb[event.SubID, nothing]        = "resume"
	verbMode         verb[modeChange, nothing]         = "mode"
	verbFailover     verb[failoverChange, nothing]     = "failover"
	verbSetEnd       verb[endChange, nothing]          = "set-end"
	verbRefresh      verb[event.SubID, nothing]        = "refresh"
	verbReset        verb[reset, nothing]              = "reset"
	verbRotate       verb[event.SubID, nothing]        = "rotate"
	verbReconnect    verb[string, nothing]             = "reconnect"
	verbRemove       verb[string, nothing]             = "remove-server"
	verbEndRemote    verb[remoteID, nothing]           = "end-remote"
	verbPrinted      verb[printed, nothing]            = "printed"
	verbSetSetting   verb[setting, nothing]            = "set-setting"
	verbSetRetention verb[event.Retention, nothing]    = "set-retention"
	verbMark         verb[event.Mark, nothing]         = "mark"
	verbUnmark       verb[markID, nothing]             = "unmark"
	verbSignOut      verb[string, nothing]             = "sign-out"

	// Reactions.
	verbReactions verb[uint64, reactions]               = "reactions"
	verbRuns      verb[react.Query, []react.Run]        = "runs"
	verbRun       verb[react.RunID, react.Run]          = "run"
	verbSteps     verb[react.RunID, []react.Step]       = "steps"
	verbExplain   verb[explainRequest, []react.Verdict] = "explain"
	verbApprove   verb[approval, nothing]               = "approve"
	verbDeny      verb[denial, nothing]                 = "deny"
	verbUndeny    verb[react.RunID, nothing]            = "undeny"
	verbGrant     verb[grant, nothing]                  = "grant"
	verbRetry     verb[react.RunID, react.RunID]        = "retry"
	verbSettle    verb[settlement, nothing]             = "settle"
	verbOnce      verb[once, react.RunID]               = "once"
	verbAskModel  verb[react.Question, react.RunID]     = "ask-model"
	verbRule      verb[string, react.RuleView]          = "rule"
	verbClient    verb[react.ClientRequest, react.Run]  = "wish"
	verbArm       verb[arming, nothing]                 = "arm"
	verbDisarm    verb[string, nothing]                 = "disarm"
	verbSilence   verb[silence, nothing]                = "silence"
	verbStop      verb[bool, nothing]                   = "stop"
	verbGo        verb[nothing, nothing]                = "go"
)

// stateRequest asks for a state that is newer than version Since, and waits for it at most Wait.
type stateRequest struct {
	Since     uint64
	Wait      time.Duration
	Wire      bool   // with frames of the wire
	WireAfter uint64 // only frames with higher numbers
	AppAfter  uint64 // only lines of the program's log with higher numbers

	// Part asks for only one subscription, or for only the marks if Sub is empty, and does not wait:
	// the answer to a change must not grow with the number of subscriptions.
	Part bool
	Sub  event.SubID
}

// state is the state of the owner at one moment.
type state struct {
	Part     bool          // only what a request for a part asked for
	Snapshot host.Snapshot // without the errors of the store
	StoreErr *failure
	Locked   *failure
	Damage   *failure
	Marks    []event.Mark
	Audited  uint64
	Took     time.Duration // to take the snapshot, and to encode the last one

	Wire     []host.WireFrame
	WireLast uint64
	App      []host.LogLine
	AppLast  uint64
}

// recordRange asks for records From..To, newest first when To is less.
type recordRange struct {
	From, To uint64
	Count    int
}

// page holds some of them. Next is the sequence number of the first record of
// the next page, 0 at the end.
type page struct {
	Records []record
	Next    uint64
}

// record is an [event.Record] whose data, if it is a part of the raw bytes, is sent as offset and
// length.
type record struct {
	Record  event.Record
	At, Len int
}

func newRecord(r event.Record) record {
	out := record{Record: r}
	if at := bytes.Index(r.Raw, r.Data); len(r.Data) > 0 && at >= 0 {
		out.At, out.Len, out.Record.Data = at, len(r.Data), nil
	}
	return out
}

// record returns the record that was sent. An offset outside of the raw bytes means no data.
func (r record) record() event.Record {
	if r.Len > 0 && r.At >= 0 && r.At <= len(r.Record.Raw) && r.Len <= len(r.Record.Raw)-r.At {
		r.Record.Data = r.Record.Raw[r.At : r.At+r.Len]
	}
	return r.Record
}

type (
	eventKey struct {
		Sub event.SubID
		ID  trust.Text
	}
	auditRequest struct {
		Before uint64
		Count  int
	}
	connectRequest struct {
		Server   string
		FirstTry bool
	}
	serverAnswer struct{ View host.ServerView }
	// request is a [host.Request] without its secret.
	request struct {
		Server string
		Type   trust.Text
		Args   []byte
		Mode   event.Mode
		From   host.From
		MaxAge time.Duration
		TTL    time.Duration
		Ends   *time.Time
	}
	// serverName names a server. Print is its fingerprint. Address is set for a server that no
	// configuration has.
	serverName   struct{ Name, Print, Address string }
	signInAnswer struct {
		URL, Issuer string
		ID          uint64
	}
	// signInWait waits for the end of a sign-in, or gives it up.
	signInWait struct {
		ID     uint64
		GiveUp bool
	}
	modeChange struct {
		Sub  event.SubID
		Mode event.Mode
	}
	failoverChange struct {
		Sub event.SubID
		On  bool
	}
	endChange struct {
		Sub event.SubID
		At  time.Time
	}
	reset struct {
		Sub  event.SubID
		From host.From
	}
	remoteID struct {
		Server string
		ID     trust.Text
	}
	printed struct {
		Sub event.SubID
		Seq uint64
	}
	setting struct{ Key, Value string }

	// reactions is a state of the reactions; View is nil if its revision is that of the request.
	reactions      struct{ View *react.View }
	explainRequest struct {
		Seq  uint64
		Rule string
	}
	approval struct {
		Run  react.RunID
		Hash string
	}
	denial struct {
		Run    react.RunID
		Reason string
	}
	grant struct {
		Run   react.RunID
		Hash  string
		Until time.Time
	}
	settlement struct {
		Run    react.RunID
		Done   bool
		Reason string
	}
	once struct {
		Rule string
		Seq  uint64
	}
	arming struct {
		Rule string
		Hash react.Hash
	}
	silence struct {
		Rule  string
		Until time.Time
	}
	markID struct {
		Seq  uint64
		Line bool
	}
)

func (r request) request() host.Request {
	return host.Request{Server: r.Server, Type: r.Type, Args: r.Args, Mode: r.Mode, From: r.From, MaxAge: r.MaxAge, TTL: r.TTL, Ends: r.Ends}
}
