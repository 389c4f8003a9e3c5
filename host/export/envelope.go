package export

import (
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
)

// scanned returns what the scanner finds in the bytes of a record.
func scanned(r *event.Record, raw []byte) scan.Report {
	if r.Kind == event.KindEvent && r.Type.Raw() == event.ResourceUpdated {
		return scan.Update(raw)
	}
	return scan.Scan(raw)
}

// Envelope returns the envelope of an event, to seal: its data, or all of a refused payload, and
// what is known of it.
func Envelope(r *event.Record) scan.Envelope {
	e := scan.Envelope{
		Server: trust.Untrusted(r.Server), Type: r.Name(), Subscribed: r.Subscribed(), Priority: r.Priority(), Tags: r.Tags(),
		Subscription: string(r.Sub), Verified: "received on a connection to the server", ReceivedAt: r.ReceivedAt,
		Payload: r.Data, Report: scanned(r, r.Raw),
	}
	if r.Mode == event.ModeWebhook {
		e.Verified = "webhook signature verified"
	}
	if r.Kind == event.KindRejected {
		e.Payload = r.Raw
	}
	return e
}
