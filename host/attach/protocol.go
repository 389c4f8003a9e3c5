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
//
// # How other processes share the host
//
// bbolt lets only one process open a file: the first process. Others use its host through
// host/attach: attach.Serve listens on a Unix socket in the data directory, attach.Attach
// returns a Client, which is a host.API whose Store is an event.Store. A command tries the
// socket first (App.Open in ui/cli/program) and opens the file if no process listens.
//
//   - HTTP, and values in gob. A session is a request that is answered when the first process
//     ends; each verb is a request, POST /v3/VERB, so net/http does framing, cancellation and
//     concurrent requests, and the handler can serve over another transport that authenticates
//     the client (attach.Dial, Server.ServeHTTP). Bodies are not JSON: cursors, ids and types
//     must come back byte for byte, even if they are not valid text, and JSON cannot represent
//     such bytes.
//   - Request and answer. The first process sends nothing unasked. A client requests the state
//     with the version that it has and is answered when there is a newer one, at most every 30
//     ms, using at most a twentieth of the first process's time. It keeps its own recent
//     window and reads the rest page by page. A suspended client holds the goroutines of its
//     own requests, at most 64, and nothing else. If the first process is suspended, a client
//     reports after 15 s that it does not answer, and shows nothing as alive.
//   - Verbs are forwarded, and return once the client's state shows their effect. After a change of
//     one subscription or a mark the client fetches only that, not the whole state.
//   - Secrets do not cross. event.Secret encodes itself masked. A server is identified by its
//     name and a hash of its address; the first process finds it in its own configuration. The
//     socket is 0600 in a 0700 directory; on Linux and macOS the peer's user is checked too.
//     On Windows only the directory restricts access to the socket.
//   - The token. A reaction's command runs as the same user and can reach the socket. So a
//     client must send the token in attach.token to open a session; each socket has a new
//     token. Confinement hides the data directory, and with it the token, from a command.
//   - Printed positions. A subscription has one, and one process keeps it: the one that
//     claimed it first, until it ends. So a fast tail does not advance the position past
//     records that a slower one has not printed. Each alone is at-least-once.
//   - An owner elsewhere. A data directory with the token and no store is the near end of a
//     forwarded socket (attach.Elsewhere): a client whose session ends there marks its state
//     as old and opens the session again, and no process opens a store there.
//   - When the first process ends, attached commands end with one line. A screen takes over
//     the store, or attaches to the process that was faster, and continues: its host is an
//     attach.Relay, which replaces the client with a host of its own
//     (ui/cli/program/takeover.go). If version or permissions prevent that, it ends and says
//     so. Subscriptions that clients requested belong to the store and continue there.
//
// If the path is too long for a socket (104 bytes on macOS), the socket is in a private
// temporary directory, named in attach.path. A socket left by a kill is replaced: only the
// process that holds the store's lock may listen.
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
