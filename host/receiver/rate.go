package receiver

import (
	"net/netip"
	"sync"
	"time"
)

// Rate allows Burst at once and PerSecond for long.
type Rate struct {
	PerSecond float64
	Burst     int
}

// origin is the key by which bad requests are counted: their source, and the path if it is
// known.
type origin struct {
	source netip.Addr
	path   string
}

// limiter holds a token bucket for each origin of bad requests. Only refused requests take
// tokens, so that genuine deliveries are not slowed down.
type limiter struct {
	rate Rate
	max  int // buckets

	mu      sync.Mutex
	buckets map[origin]*bucket
	sweptAt time.Time
}

type bucket struct {
	tokens float64
	at     time.Time
}

func newLimiter(rate Rate, most int) *limiter {
	return &limiter{rate: rate, max: most, buckets: map[origin]*bucket{}}
}

// wait returns how long requests of an origin will be refused; 0: they are not.
func (l *limiter) wait(o origin, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[o]
	if b == nil {
		if len(l.buckets) < l.max {
			return 0
		}
		if b = l.buckets[origin{}]; b == nil {
			return 0
		}
	}
	l.fill(b, now)
	if b.tokens >= 1 {
		return 0
	}
	return time.Duration((1 - b.tokens) / l.rate.PerSecond * float64(time.Second))
}

// charge takes a token for a bad request. When there is no room for another bucket, the origin
// shares one with others.
func (l *limiter) charge(o origin, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[o]
	if b == nil {
		if len(l.buckets) >= l.max {
			l.sweep(now)
		}
		if len(l.buckets) >= l.max {
			o = origin{}
			b = l.buckets[o]
		}
	}
	if b == nil {
		b = &bucket{tokens: float64(l.rate.Burst), at: now}
		l.buckets[o] = b
	}
	l.fill(b, now)
	b.tokens = max(0, b.tokens-1)
}

// fill adds the tokens of the time since the bucket was used last.
func (l *limiter) fill(b *bucket, now time.Time) {
	if gone := now.Sub(b.at).Seconds(); gone > 0 {
		b.tokens = min(float64(l.rate.Burst), b.tokens+gone*l.rate.PerSecond)
	}
	b.at = now
}

// sweep forgets the buckets that are full again, at most once a second.
func (l *limiter) sweep(now time.Time) {
	if gone := now.Sub(l.sweptAt); gone >= 0 && gone < time.Second {
		return
	}
	l.sweptAt = now
	for o, b := range l.buckets {
		if l.fill(b, now); b.tokens >= float64(l.rate.Burst) {
			delete(l.buckets, o)
		}
	}
}
