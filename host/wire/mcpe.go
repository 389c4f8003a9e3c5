package wire

// The tools with which MCPE makes and changes subscriptions.
const (
	ToolSubscribe   = "events_subscribe"
	ToolUnsubscribe = "events_unsubscribe"
	ToolList        = "events_list"
	ToolPause       = "events_pause"
	ToolResume      = "events_resume"
	ToolUpdate      = "events_update"
)

// Suffixes of the notifications of MCPE.
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

// MCPEFilter selects the events of an MCPE subscription: an event must match any item of
// every list. An empty list matches all.
type MCPEFilter struct {
	EventTypes []string `json:"eventTypes,omitempty"` // patterns, see the dialect
	Tags       []string `json:"tags,omitempty"`
	Priority   []string `json:"priority,omitempty"`
}

// MCPEDelivery is the delivery of an MCPE subscription.
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

// MCPEScheduled is one delivery at a given time: RFC 3339, or local time in Timezone.
type MCPEScheduled struct {
	DeliverAt   string `json:"deliverAt"`
	Timezone    string `json:"timezone,omitempty"` // IANA; empty: UTC
	Description string `json:"description,omitempty"`
	Aggregate   *bool  `json:"aggregateEvents,omitempty"`
	AutoExpire  *bool  `json:"autoExpire,omitempty"` // absent: true
}
