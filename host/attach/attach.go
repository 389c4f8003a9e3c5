// Package attach lets further processes use the host of the one that has the store
// open. That one, the first, listens on a Unix socket in the data directory; a
// [Client] in another process of the same user is a [host.API] and, with
// [Client.Store], an [event.Store] that ask the first.
//
// The protocol is HTTP on that socket. A client opens a session, a request that is
// answered when the first process ends, and asks with one request for each verb,
// POST /v3/VERB; what a verb takes and gives is one value in gob, which keeps texts to
// the byte, as cursors have to be. Nothing is sent that was not asked for. A client
// that follows what changes asks for the state with the version that it has, and is
// answered when there is a newer one: a client that is slow or stopped holds up no client but itself,
// and reads what it missed from the log.
//
// A session needs the token that the first process keeps in the data directory: a process that
// cannot read that directory, such as a confined command, can ask for nothing.
//
// Secrets do not cross: [event.Secret] is sent in its masked form. Servers are sent
// by name; the first finds the description in its own configuration.
package attach

import (
	"errors"
	"strconv"
	"time"
)

// Errors of this package.
var (
	// ErrNotListening: no process listens for the store.
	ErrNotListening = errors.New("no process listens for the store")
	// ErrVersion: the other process speaks another version of the protocol.
	ErrVersion = errors.New("another version of eventdeck")
	// ErrPeer: the other process belongs to another user.
	ErrPeer = errors.New("refused: a process of another user")
	// ErrGone: the first process has ended.
	ErrGone = errors.New("the process with the store has ended")
	// ErrNotHere: this can be done in the first process only.
	ErrNotHere = errors.New("not possible from here")
	// ErrPrints: another process keeps the position up to which the subscription
	// was printed.
	ErrPrints = errors.New("another process prints this subscription and keeps the position")
	// ErrBusy: too many clients, or too many requests of one.
	ErrBusy = errors.New("too many at once")
	// ErrAnswer: what came is no answer of the protocol.
	ErrAnswer = errors.New("not an answer of the protocol")
)

// version of the protocol. It grows when a process of the version before could not
// understand an answer; gob passes over fields that only one side knows.
const version = 3

// Bounds.
const (
	maxClients     = 32
	keptClients    = 8        // of them, for others than runs
	maxConnections = 1024     // of all clients
	maxRunning     = 64       // requests of one client
	maxRequest     = 8 << 20  // bytes of a request
	maxAnswer      = 64 << 20 // bytes of an answer
	pageRecords    = 1000
	pageBytes      = 256 << 10
	helloWithin    = 2 * time.Second
	idleAtMost     = time.Minute // a client ends a connection that is idle; the server later, so that no request is lost
)

// The headers of the protocol.
const (
	headerVersion = "Eventdeck-Attach"  // of the process that answers
	headerPID     = "Eventdeck-Pid"     // likewise
	headerSession = "Eventdeck-Session" // given with a session, and sent with each verb
	headerToken   = "Eventdeck-Token"   // sent to open a session
)

// pathOf returns the path of a verb, or of the session.
func pathOf(name string) string { return "/v" + strconv.Itoa(version) + "/" + name }

// pathSession opens a session.
const pathSession = "session"
