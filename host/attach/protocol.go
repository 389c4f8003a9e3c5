// Package attach lets other processes use the host of the process that has the store open, the
// owner. The owner listens on a Unix socket in the data directory. A [Client] in another process
// of the same user is a [host.API] and, with [Client.Store], an [event.Store]; both ask the owner.
//
// The protocol is HTTP on that socket. A client opens a session, a request that is answered when
// the owner ends, and sends one request for each verb, POST /v3/VERB. Requests and responses are
// single gob values, so that texts and cursors keep their exact bytes. Nothing is sent that was
// not asked for. A client that follows changes asks for the state with the version that it has,
// and is answered when there is a newer one: a slow or stopped client delays only itself, and
// reads what it missed from the log.
//
// A session needs the token that the owner keeps in the data directory: a process that cannot
// read that directory, such as a confined command, can ask for nothing.
//
// Secrets do not cross: [event.Secret] is sent in its masked form. Servers are sent by name; the
// owner finds the description in its own configuration.
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
	// ErrGone: the owner has ended.
	ErrGone = errors.New("the process with the store has ended")
	// ErrNotHere: only the owner can do this.
	ErrNotHere = errors.New("not possible from here")
	// ErrPrints: another process keeps the position up to which the subscription
	// was printed.
	ErrPrints = errors.New("another process prints this subscription and keeps the position")
	// ErrBusy: too many clients, or too many requests of one, or the owner is about to end.
	ErrBusy = errors.New("too many at once")
	// ErrElsewhere: the store of a data directory is that of a process elsewhere; see [Elsewhere].
	ErrElsewhere = errors.New("the store is elsewhere")
	// ErrAnswer: a malformed response.
	ErrAnswer = errors.New("not an answer of the protocol")
)

// version of the protocol. Increment it when a process of the version before could not decode a
// response; gob ignores fields that only one side knows.
const version = 3

// Bounds.
const (
	maxFollowers   = 256      // clients that stay, such as screens
	maxCommands    = 64       // clients that do not stay
	maxRuns        = 24       // clients that are agents of runs
	maxConnections = 4096     // of all clients
	maxRunning     = 64       // requests of one client
	maxRequest     = 8 << 20  // bytes of a request
	maxAnswer      = 64 << 20 // bytes of an answer
	pageRecords    = 1000     // of the log in one response
	pageBytes      = 256 << 10
	helloTimeout   = 2 * time.Second
	idleTimeout    = time.Minute // the client closes idle connections first, so that the owner never closes one that is about to be used
)

// The headers of the protocol.
const (
	headerVersion = "Eventdeck-Attach"  // of the process that answers
	headerPID     = "Eventdeck-Pid"     // likewise
	headerSession = "Eventdeck-Session" // given with a session, and sent with each verb
	headerToken   = "Eventdeck-Token"   // sent to open a session
	headerFollows = "Eventdeck-Follows" // likewise, by a client that stays
)

// pathOf returns the path of a verb, or of the session.
func pathOf(name string) string { return "/v" + strconv.Itoa(version) + "/" + name }

// pathSession opens a session.
const pathSession = "session"
