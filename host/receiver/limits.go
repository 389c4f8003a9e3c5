package receiver

import "time"

// Bounds that no operator has a reason to change. docs/limits.md lists every bound
// of the receiver; its test holds that page against this file.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 14 * time.Second // a sender that gives up after 15 s is answered
	writeTimeout      = 15 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10
	maxStreams        = 32 // of one HTTP/2 connection

	// MaxBody is the largest body that is taken, in bytes (SEP-3415, webhook).
	MaxBody = 256 << 10

	maxIDBytes           = 255
	maxSubscriptionBytes = 1024
	maxSignatureBytes    = 4 << 10
	maxSignatures        = 16
	maxChallenge         = 1024 // characters

	// maxDrained is the longest body of a refused request that is read and discarded, so
	// that its connection can stay; a new one would cost both sides more.
	maxDrained = 16 << 10

	// maxBuckets is how many sources have a bucket of their own; further ones share one.
	maxBuckets = 4096
)

// Limits are the bounds that an operator may change. A member that is zero takes
// its default.
type Limits struct {
	// Connections is how many connections are open at once; further ones wait. When there
	// is no room, a connection that is idle and has not brought a genuine delivery is closed
	// for a waiting one. Default 64.
	Connections int
	// InFlight is how many deliveries are verified or committed at once; further ones
	// get 503. Default 512.
	InFlight int
	// Bad is how many refused requests are answered in full, for each source and, at a
	// known path, for each source and path. Further requests get 429. Genuine deliveries
	// do not count, nor does anything on a connection whose last delivery was genuine.
	// Default 100 a second, 1,000 at once.
	Bad Rate
	// Deliver is how long a commit may take before the answer is 503. Default 10 s.
	Deliver time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Connections: positive(l.Connections, 64),
		InFlight:    positive(l.InFlight, 512),
		Bad:         Rate{PerSecond: positive(l.Bad.PerSecond, 100), Burst: positive(l.Bad.Burst, 1000)},
		Deliver:     positive(l.Deliver, 10*time.Second),
	}
}

func positive[N int | float64 | time.Duration](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}
