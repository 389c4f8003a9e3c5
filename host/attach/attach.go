// Package attach lets further processes use the host of the one that has the store
// open. That one, the first, listens on a Unix socket in the data directory; a
// [Client] in another process of the same user is a [host.API] and, with
// [Client.Store], an [event.Store] that ask the first.
//
// The protocol is request and answer. Each side begins with a line that has the
// version and its process id; then come frames: four bytes of length, big-endian,
// and a gob stream that goes on from frame to frame, of a header and a body. Nothing
// is sent that was not asked for. Who follows what changes asks for the state with
// the version that it has, and is answered when there is a newer one: a client that
// is slow or stopped holds up nobody but itself, and reads what it missed from the
// log.
//
// Secrets do not cross: [event.Secret] is sent in its masked form. Servers are sent
// by name; the first finds the description in its own configuration.
package attach

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Errors of this package.
var (
	// ErrNobody: no process listens for the store.
	ErrNobody = errors.New("nobody is attached to")
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
	// ErrFrame: what came is no frame of the protocol.
	ErrFrame = errors.New("not a frame of the protocol")
)

// version of the protocol. It grows when a process of the version before could not
// understand an answer; gob passes over fields that only one side knows.
const version = 1

// Bounds.
const (
	maxClients  = 32
	maxRunning  = 64       // requests of one client
	maxRequest  = 8 << 20  // bytes of a frame to the first
	maxAnswer   = 64 << 20 // bytes of a frame to a client
	pageRecords = 1000
	pageBytes   = 256 << 10
	helloWithin = 2 * time.Second
)

const greeting = "eventdeck-attach"

// greet exchanges the first lines and returns the other's process id.
//
// Error: [ErrVersion].
func greet(conn net.Conn, r *bufio.Reader) (pid int, err error) {
	if err := conn.SetDeadline(time.Now().Add(helloWithin)); err != nil {
		return 0, err
	}
	if _, err := fmt.Fprintf(conn, "%s %d %d\n", greeting, version, os.Getpid()); err != nil {
		return 0, err
	}
	if pid, err = readGreeting(r); err != nil {
		return pid, err
	}
	return pid, conn.SetDeadline(time.Time{})
}

// maxGreeting bounds the first line.
const maxGreeting = 64

func readGreeting(r io.ByteReader) (pid int, err error) {
	var line strings.Builder
	for {
		c, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if c == '\n' {
			break
		}
		if line.Len() == maxGreeting {
			return 0, fmt.Errorf("%w: its first line is too long", ErrFrame)
		}
		line.WriteByte(c)
	}
	words := strings.Split(line.String(), " ")
	if len(words) != 3 || words[0] != greeting {
		return 0, fmt.Errorf("%w: its first line is another", ErrFrame)
	}
	if pid, err = strconv.Atoi(words[2]); err != nil || pid < 0 {
		return 0, fmt.Errorf("%w: no process id in its first line", ErrFrame)
	}
	if words[1] != strconv.Itoa(version) {
		return pid, fmt.Errorf("%w: process %d; quit it, or use the same one", ErrVersion, pid)
	}
	return pid, nil
}
