package host

import (
	"encoding/json"
	"slices"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Snapshot is the state of the host at one moment. It is a value: a caller that has
// it may keep it.
type Snapshot struct {
	Version  uint64 // grows with every change
	At       time.Time
	Servers  []ServerView       // in the order in which they were added
	Subs     []SubscriptionView // in order of creation
	Store    event.StoreInfo
	Last     uint64 // newest stored sequence number
	Receiver string // address that takes deliveries, "" while no receiver runs
	// ReceiverErr says why the receiver does not run although it is needed; it is tried again.
	ReceiverErr string
	Resume      Resume
}

// Of returns what [API.SnapshotOf] does, from a full snapshot.
func (s Snapshot) Of(id event.SubID) Snapshot {
	i := slices.IndexFunc(s.Subs, func(v SubscriptionView) bool { return v.ID == id })
	if s.Servers, s.Resume = nil, (Resume{}); i < 0 {
		s.Subs = nil
	} else {
		s.Subs = slices.Clone(s.Subs[i : i+1])
	}
	return s
}

// Reach is the state of the connection to a server.
type Reach string

// The states of a connection.
const (
	ReachConnecting Reach = "connecting"
	ReachReady      Reach = "ready"
	ReachBackoff    Reach = "backoff" // failed; trying again at NextTry
	ReachRefused    Reach = "refused" // the server refuses; tried seldom
	ReachSignIn     Reach = "sign-in" // the server wants the operator to sign in: see [API.SignIn]
	ReachFault      Reach = "fault"   // its description cannot be used: see Err
)

// ServerView is what the host knows of a server.
type ServerView struct {
	Name      string
	Address   string // URL or command line, for the operator; without headers
	Reach     Reach
	Since     time.Time
	Attempt   int          // failed attempts in a row
	NextTry   time.Time    // in backoff
	Err       string       // why the last attempt failed, safe to print
	Reason    event.Reason // in one word; empty while connected
	Era       string       // "2026-07-28 stateless" or "handshake"
	Version   string       // protocol version
	Transport string       // streamable-http, http+sse, websocket or stdio: what is really used
	HTTP      string       // version of HTTP, "" for a process
	Profile   string       // "SEP-3415", "sketch", or "" if no events were advertised
	// Unadvertised: events/list was asked although the server does not advertise events.
	Unadvertised bool
	Title        trust.Text // the server's own name
	Release      trust.Text // the server's own version
	Types        []event.Type
	TypesKnown   bool // events/list was answered in this session
	TypesErr     string
	BadTypes     int      // descriptors that are hidden: they cannot be used, or another dialect has the name
	BadWhy       []string // reasons for the first few; safe to print
	SignIn       string   // why the operator should sign in, "" if there is no need; safe to print
	SignedIn     bool     // there are tokens, which [API.SignOut] removes
}

// SubscriptionView is a stored subscription with its present status.
type SubscriptionView struct {
	event.Subscription
	Status   delivery.Status // derived from all evidence; State is the stored one
	Stored   uint64          // events stored in this run
	Dropped  uint64          // duplicates dropped in this run
	Gaps     uint64          // gap records in this run
	LastSeq  uint64          // its newest record, 0 if none in this run
	LastTime time.Time
	NoServer bool // it does not run: no server of its name was added
	// Running: a host runs it, in this process or in the one that has the store open.
	// Otherwise the state of Status is not-running, and the stored State and LastSeen are
	// from its last run.
	Running bool
	Expires time.Time // when it ends as planned; zero: never
}

// Resume sums up what the host caught up on since it started.
type Resume struct {
	Replayed   uint64
	Duplicates uint64
	Gaps       uint64
}

// Request asks for a subscription.
type Request struct {
	Server string // a name that was added
	Type   trust.Text
	Args   json.RawMessage // nil: {}
	Mode   event.Mode      // ModeAuto or a mode
	From   From
	MaxAge time.Duration // 0: no bound
	TTL    time.Duration // of a webhook lease; 0: the server decides
	Ends   *time.Time    // when it ends; zero: never; nil: as it is, for a new one never
	Secret event.Secret  // of a new webhook subscription; zero: made here
}

// From says where delivery starts. The zero value is from now.
type From struct {
	Saved  bool         // go on where the store stands; with nothing saved, from now
	Cursor event.Cursor // or at this position
}
