package session

// Direction says which side sent a traced frame.
type Direction string

// The directions.
const (
	Sent     Direction = "sent"
	Received Direction = "received"
)
