package demo

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
)

// ServerOptions are the options that all listening servers share. The zero value is usable.
type ServerOptions struct {
	Listen string  // address of [RunPager] and the like; "" means 127.0.0.1 and a port of the server's own
	Speed  float64 // of the script; 0 means 1
	Seed   int64   // fixes content and timing, never ids and cursors
	Rate   int     // events per second of load.tick; 0: the type is not offered

	// Token, if set, must be the bearer token of every request.
	Token event.Secret
	// CAFile names PEM certificates that are trusted for callbacks beside the
	// system's. It is read again at each connection, and may not exist yet.
	CAFile string

	// These three are implied on a loopback address.
	AllowLoopback     bool // callbacks may go to loopback addresses
	TrustCA           bool // CAFile is used
	LoopbackPrincipal bool // a caller on loopback needs no token

	Random io.Reader    // of the run's id, secrets and challenges; nil means the system's
	Stderr io.Writer    // gets the line with the endpoint; nil means nowhere
	Log    *slog.Logger // nil means nowhere
}

// withDefaults fills in what is not set; listen is where the server listens.
func (o ServerOptions) withDefaults(listen string) ServerOptions {
	setDefault(&o.Listen, listen)
	setDefault(&o.Speed, 1)
	setDefault(&o.Random, rand.Reader)
	setDefault(&o.Stderr, io.Discard)
	setDefault(&o.Log, slog.New(slog.DiscardHandler))
	return o
}

// begin begins the run of a server.
//
// Errors: [ErrOptions]; failure of the randomness.
func (o ServerOptions) begin() (origin, error) {
	if o.Speed < 0 || o.Rate < 0 {
		return origin{}, fmt.Errorf("%w: speed and rate must not be negative", ErrOptions)
	}
	return newRun(o.Random)
}

func (o ServerOptions) guard(ln net.Listener) eventserver.Guard {
	return eventserver.Guard{Realm: "demo", Token: o.Token, Loopback: eventserver.OnLoopback(ln.Addr()), Local: o.LoopbackPrincipal}
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// ErrOptions: a server cannot start with its options; the text says why.
var ErrOptions = errors.New("demo server options")
