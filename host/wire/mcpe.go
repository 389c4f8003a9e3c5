package wire

// The tools by which MCPE makes and changes subscriptions.
const (
	ToolSubscribe   = "events_subscribe"
	ToolUnsubscribe = "events_unsubscribe"
	ToolList        = "events_list"
	ToolPause       = "events_pause"
	ToolResume      = "events_resume"
	ToolUpdate      = "events_update"
)

// Notifications of MCPE, whatever stands before them.
const (
	NoteMCPEEvent   = "events/event"
	NoteMCPEBatch   = "events/batch"
	NoteMCPEExpired = "events/subscription_expired"
)

// The delivery channels of MCPE.
const (
	ChannelRealtime  = "realtime"
	ChannelCron      = "cron"
	ChannelScheduled = "scheduled"
)

// MCPEFilter is which events a subscription of MCPE takes: within a list any will do, between
// the lists all must. An empty list takes all.
type MCPEFilter struct {
	EventTypes []string `json:"eventTypes,omitempty"` // patterns, see the dialect
	Tags       []string `json:"tags,omitempty"`
	Priority   []string `json:"priority,omitempty"`
}

// MCPEDelivery is how a subscription of MCPE is delivered.
type MCPEDelivery struct {
	Channels  []string       `json:"channels"`
	Cron      *MCPECron      `json:"cronSchedule,omitempty"`
	Scheduled *MCPEScheduled `json:"scheduledDelivery,omitempty"`
}

// MCPECron is a delivery on a schedule.
type MCPECron struct {
	Expression string `json:"expression"`
	Timezone   string `json:"timezone,omitempty"` // IANA; empty: UTC
	Aggregate  *bool  `json:"aggregateEvents,omitempty"`
	MaxEvents  *int   `json:"maxEventsPerDelivery,omitempty"`
}

// MCPEScheduled is one delivery at a time: RFC 3339, or without a zone in that of Timezone.
type MCPEScheduled struct {
	DeliverAt   string `json:"deliverAt"`
	Timezone    string `json:"timezone,omitempty"` // IANA; empty: UTC
	Description string `json:"description,omitempty"`
	Aggregate   *bool  `json:"aggregateEvents,omitempty"`
	AutoExpire  *bool  `json:"autoExpire,omitempty"` // absent: true
}
