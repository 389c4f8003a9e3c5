package demo

import (
	"strconv"
	"strings"
	"time"
)

// feed is the endless history of one event type. Event n (n counts from 1) is computed when it is
// read, so replay costs no memory, and every reader keeps only its own position: a slow one falls
// behind, and nothing is skipped. Feeds are immutable and may be used by many goroutines.
type feed interface {
	// count returns how many events have happened by t.
	count(t time.Time) uint64
	// when returns the moment of event n.
	when(n uint64) time.Time
	// loop returns the part of a cursor between the run and n; it may be empty.
	loop(n uint64) string
	// appendBody appends the members of occurrence n, without braces.
	appendBody(dst []byte, n uint64) []byte
	// matches reports whether event n passes the arguments of a subscription.
	matches(n uint64, args map[string]any) bool
}

// origin identifies one run of a server.
type origin struct {
	run   string // random, so that ids and cursors of two runs differ
	start time.Time
}

func (o origin) appendCursor(dst []byte, f feed, n uint64) []byte {
	dst = append(dst, o.run...)
	if loop := f.loop(n); loop != "" {
		dst = append(dst, '.')
		dst = append(dst, loop...)
	}
	dst = append(dst, '.')
	return strconv.AppendUint(dst, n, 10)
}

func (o origin) cursor(f feed, n uint64) string { return string(o.appendCursor(nil, f, n)) }

// position reads a cursor of this run. It is false for every other text.
func (o origin) position(f feed, cursor string) (uint64, bool) {
	rest, ok := strings.CutPrefix(cursor, o.run+".")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(rest[strings.LastIndexByte(rest, '.')+1:], 10, 64)
	if err != nil || o.cursor(f, n) != cursor {
		return 0, false
	}
	return n, true
}

// appendTime appends t as RFC 3339 in UTC with milliseconds.
func appendTime(dst []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
}

// mix is a hash of its input (the finalizer of SplitMix64): only the seed and n determine the
// pseudo-random part of an event.
func mix(seed int64, n uint64) uint64 {
	x := uint64(seed) + n*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
