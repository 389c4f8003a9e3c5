package model

import (
	"bytes"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// SetTimes has a client wait for less long.
func (c *Client) SetTimes(first, idle, whole, ring time.Duration) {
	c.times = times{first, idle, whole, ring}
}

// SetStream has a client read less of a stream, and returns how much it read before.
func (c *Client) SetStream(most int) (was int) {
	was, c.stream = c.stream, most
	return was
}

// Bounds of what is read.
const (
	MaxStream = maxStream
	MaxLine   = maxLine
	MaxArgs   = maxArgs
)

// Read reads a stream as a wire does.
func Read(w react.Wire, stream []byte, key string) (react.Answer, react.Usage, error) {
	a := &answer{key: event.NewSecret(key)}
	var on wire = chat{}
	if w == react.WireMessages {
		on = messages{}
	}
	if err := on.read(newEvents(bytes.NewReader(stream), maxStream, func() {}), a); err != nil {
		return react.Answer{}, a.usage, err
	}
	out, err := a.finish()
	return out, a.usage, err
}
