// Package acp is a client of the Agent Client Protocol, version 1. It exchanges JSON-RPC
// messages, one per line, with an agent over the agent's standard streams.
//
// Agents are untrusted. Their messages are bounded and parsed strictly; one that breaks the
// protocol or a limit ends the connection, not the host. Their texts are [trust.Text]. The client
// offers the agent no files and no terminal.
//
// The protocol cannot force an agent to ask for permission before it acts. [ErrUnasked] reports
// an agent that says itself that it acted without; only the confinement of its process stops one
// that says nothing.
package acp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"eventdeck/host/trust"
)

// Errors of this package.
var (
	// ErrProtocol: the agent sent an invalid message, or one that is not allowed at this point.
	ErrProtocol = errors.New("the agent breaks the protocol")
	// ErrVersion: the agent speaks another version of the protocol.
	ErrVersion = errors.New("the agent speaks another version of the protocol")
	// ErrTooMuch: the agent sent more than the bounds of this package allow.
	ErrTooMuch = errors.New("the agent sent too much")
	// ErrDeaf: the agent does not read what it is sent, or does not end its turn when asked.
	ErrDeaf = errors.New("the agent does not listen")
	// ErrGone: the agent closed its output.
	ErrGone = errors.New("the agent closed its output")
	// ErrRefused: the agent answered a request with an error.
	ErrRefused = errors.New("the agent refused")
	// ErrUnasked: the agent reports that it did something without the permission it should
	// have asked for.
	ErrUnasked = errors.New("the agent acted without permission")
	// ErrClosed: the connection was closed here.
	ErrClosed = errors.New("the connection to the agent is closed")
)

// Bounds of what an agent may send.
const (
	maxLine     = 1 << 20  // bytes of one message
	maxTurn     = 64 << 20 // bytes of all messages of a turn, or between two
	maxMessages = 100_000  // messages of a turn, or between two
	maxCalls    = 1000     // tool calls of a turn
	maxOpen     = 8        // pending requests for permission
	maxOptions  = 20       // of one such request
	maxID       = 1 << 10  // bytes of an id
	maxNotes    = 20       // remarks on a turn
	maxEnd      = 32 << 10 // bytes of a text that are kept at each end
	maxTitle    = 4 << 10  // bytes of the title of a tool call that are kept
	queueLines  = 64       // messages that the agent has not read
)

// Time limits.
const (
	setupTime   = time.Minute     // for an answer to anything but a prompt
	graceCancel = 5 * time.Second // for the end of a turn that was cancelled
)

// protocolVersion is the only supported version.
const protocolVersion = 1

// Server is an MCP server that the agent starts, with stdio transport.
type Server struct {
	Name    string
	Command string
	Args    []string
	Env     [][2]string // names and values
}

// Info is what an agent says of itself.
type Info struct {
	Name    trust.Text
	Version trust.Text
	Loads   bool // it can load earlier sessions
}

// Permission is an agent's request for permission, in its own words, which are not verified.
type Permission struct {
	Title trust.Text
	Kind  trust.Text      // "execute", "edit" and so on, as far as it said
	Call  json.RawMessage // the tool call as it describes it
}

// Options of [Open].
type Options struct {
	Version string // of this program
	// Permit decides a request for permission. It is called from a goroutine of its own; ctx
	// ends with the turn. An error means no decision. nil: nothing is allowed.
	Permit func(ctx context.Context, p Permission) (allowed bool, err error)
	// Said gets each piece of the agent's messages as it arrives; may be nil.
	Said func(piece trust.Text)
}

// Stop says why an agent ended its turn.
type Stop string

// The reasons to stop.
const (
	StopEnd       Stop = "end_turn"
	StopTokens    Stop = "max_tokens"
	StopRequests  Stop = "max_turn_requests"
	StopRefusal   Stop = "refusal"
	StopCancelled Stop = "cancelled"
)

// Turn is the outcome of a prompt.
type Turn struct {
	Stop  Stop
	Text  trust.Text // the agent's last message, its middle left out if it is long
	In    int64      // tokens, as the agent counts them, not verified
	Out   int64
	Calls int      // tool calls that it reported
	Notes []string // anomalies, in our own words
}
