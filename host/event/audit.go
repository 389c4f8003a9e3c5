package event

import (
	"time"

	"eventdeck/host/trust"
)

// Actor is the party that did the act of an [AuditEntry].
type Actor string

// The actors.
const (
	ActorOperator Actor = "operator" // a person, through a frontend
	ActorHost     Actor = "host"     // this program by itself, e.g. a failover
	ActorServer   Actor = "server"   // a server, e.g. it ended a subscription
	ActorSecurity Actor = "security" // the outcome of a check, e.g. a signature that is wrong
)

// AuditEntry is one entry of the audit log: an act and its result. It never holds a secret or
// a payload.
type AuditEntry struct {
	Seq    uint64    // assigned by the store, from 1, rising
	At     time.Time // UTC
	Actor  Actor
	Action string // our words, short and stable, e.g. "subscribe", "mode switched"

	// The object of the act; zero where that does not apply.
	Server string
	Type   trust.Text
	Sub    SubID
	Record uint64 // sequence number of a record of the log; 0: none

	Result string     // "ok", or why not
	Detail trust.Text // may hold a server's words
}

// ResultOK is the Result of an act that was done.
const ResultOK = "ok"

// Act returns the entry of an act on a subscription that was done.
func Act(at time.Time, actor Actor, action string, sub Subscription) AuditEntry {
	return AuditEntry{
		At: at.UTC(), Actor: actor, Action: action,
		Server: sub.Key.Server, Type: sub.Key.Type, Sub: sub.ID, Result: ResultOK,
	}
}

// Mark is an operator's mark in the log: a bookmark on a record, or a line after it that says
// "now".
type Mark struct {
	Seq  uint64 // of the record
	At   time.Time
	Note string
	Line bool // a line that is drawn after the record
}
