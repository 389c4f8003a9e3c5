package event

import "time"

// Limits bound what is kept. A zero member means no bound.
type Limits struct {
	Age     time.Duration `json:"age,omitempty"` // since a record was received
	Records uint64        `json:"records,omitempty"`
	Bytes   int64         `json:"bytes,omitempty"` // of records as they are stored
}

// IsZero reports whether nothing is bounded.
func (l Limits) IsZero() bool { return l == Limits{} }

// Retention says how much of the log is kept: in all, and of each subscription.
// A pruned event that is sent again within 24 hours still counts as a duplicate.
type Retention struct {
	Total  Limits `json:"total"`
	PerSub Limits `json:"perSub"`
}

// DefaultRetention is 2 GiB in all.
func DefaultRetention() Retention { return Retention{Total: Limits{Bytes: 2 << 30}} }
