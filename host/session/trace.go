package session

// Direction says who sent a traced frame.
type Direction string

// The directions.
const (
	Sent     Direction = "sent"
	Received Direction = "received"
)
