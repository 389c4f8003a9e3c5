package model

import "time"

// Bounds of what is sent.
const (
	maxModelName   = 200     // bytes of the provider's name of a model
	maxBody        = 8 << 20 // bytes of a call
	maxDescription = 4 << 10 // bytes of the description of a tool
)

// Bounds of what is read.
const (
	maxHeaders = 64 << 10 // bytes of the headers of an answer
	maxError   = 16 << 10 // bytes of an error response that are read
	maxLine    = 1 << 20  // bytes of one line of a stream
	maxStream  = 32 << 20 // bytes of a stream
	maxText    = 1 << 20  // bytes of the text of an answer
	maxCalls   = 64       // tool calls in one answer
	maxArgs    = 64 << 10 // bytes of the arguments of one call
	maxDepth   = 64       // levels of a message and of arguments
	maxID      = 256      // bytes of the id and of the name in a call
	maxExtra   = 64 << 10 // bytes of opaque data of a provider with a call
)

// Time limits. A caller may set a shorter one for the whole call with its context.
const (
	maxFirst = 3 * time.Minute // until an answer begins: a local model may have to be loaded first
	maxIdle  = time.Minute     // between two lines of a stream
	maxWhole = 15 * time.Minute
	maxRing  = 3 * time.Second // for the keyring
)
