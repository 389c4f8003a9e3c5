// Package acp speaks the Agent Client Protocol, version 1, as its client: with a program
// that is an agent, over the standard streams of that program, one JSON-RPC message a line.
//
// An agent may say anything. What it writes is bounded and read strictly, and what breaks
// the protocol or a bound ends the connection, not the host. Its texts are [trust.Text].
// The client offers the agent no files and no terminal.
//
// That an agent asks leave before it acts is its own promise: the protocol cannot hold it
// to that. [ErrUnasked] tells of an agent that breaks it in the open; one that says nothing
// is held by nothing but the confinement of its process.
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
	// ErrProtocol: the agent sent what is no message of the protocol, or not at this point.
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
	// ErrUnasked: the agent reports that it did what it should have asked leave for, and
	// had none.
	ErrUnasked = errors.New("the agent acted without leave")
	// ErrClosed: the connection was closed here.
	ErrClosed = errors.New("the connection to the agent is closed")
)

// Bounds of what an agent may send.
const (
	maxLine     = 1 << 20  // bytes of one message
	maxTurn     = 64 << 20 // bytes of all messages of a turn, or between two
	maxMessages = 100_000  // messages of a turn, or between two
	maxCalls    = 1000     // tool calls of a turn
	maxOpen     = 8        // requests for leave that wait at the same time
	maxOptions  = 20       // of one such request
	maxID       = 1 << 10  // bytes of an id
	maxNotes    = 20       // remarks on a turn
	maxEnd      = 32 << 10 // bytes of a text that are kept at each end
	maxTitle    = 4 << 10  // bytes that are kept of the title of a tool call
	queueLines  = 64       // messages to the agent that it has not read
)

// Times.
const (
	setupTime   = time.Minute     // for an answer to anything but a prompt
	graceCancel = 5 * time.Second // for the end of a turn that was cancelled
)

// protocolVersion is the only one that is spoken.
const protocolVersion = 1

// Server is an MCP server that the agent starts, and speaks with over standard streams.
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
	Loads   bool // it can load a session that was begun before
}

// Permission is what an agent asks leave for, in its own words: nothing of it is proved.
type Permission struct {
	Title trust.Text
	Kind  trust.Text      // "execute", "edit" and so on, as far as it said
	Call  json.RawMessage // the tool call as it describes it
}

// Options of [Open].
type Options struct {
	Version string // of this program
	// Permit decides what an agent asks leave for. It is called from a goroutine of its
	// own; ctx ends with the turn. An error stands for no decision. nil: nothing is allowed.
	Permit func(ctx context.Context, p Permission) (allowed bool, err error)
	// Said gets each piece of what the agent says as it comes; nil: it is only collected.
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

// Turn is what became of a prompt.
type Turn struct {
	Stop  Stop
	Text  trust.Text // the agent's last message, its middle left out if it is long
	In    int64      // tokens, as the agent counts them: they inform and prove nothing
	Out   int64
	Calls int      // tool calls that it told of
	Notes []string // what was strange, in our words
}
