package events

import (
	"fmt"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/handoff"
	"eventdeck/host/trust/scan"
	"eventdeck/ui/cli/usage"
)

// envelopeFlags ask for events in the envelopes in which commands and models get them.
type envelopeFlags struct {
	mode   string
	fields []string
}

// check refuses combinations of flags that make no sense. subs is how many subscriptions were
// named.
func (f envelopeFlags) check(subs int) error {
	switch handoff.Mode(f.mode) {
	case "":
		if len(f.fields) > 0 {
			return usage.Errorf("--field goes with --envelope fields")
		}
		return nil
	case handoff.ModeJSON, handoff.ModeMarked, handoff.ModeBase64:
		if len(f.fields) > 0 {
			return usage.Errorf("--field goes with --envelope fields")
		}
	case handoff.ModeFields:
		if len(f.fields) == 0 {
			return usage.Errorf("--envelope fields needs at least one --field NAME")
		}
	default:
		return usage.Errorf("--envelope %q: must be json, marked, base64 or fields", f.mode)
	}
	if subs == 0 {
		return usage.Errorf("--envelope needs a subscription: eventdeck events SUB --envelope %s", f.mode)
	}
	return nil
}

// sealer formats events as envelopes. Records of other kinds have no payload and
// no envelope. The first event that cannot be sealed is kept in err.
type sealer struct {
	flags envelopeFlags
	err   error
}

func (s *sealer) append(b []byte, r event.Record) []byte {
	if s.err != nil {
		return b
	}
	envelope := handoff.Envelope{
		Server:       trust.Untrusted(r.Server),
		Subscription: string(r.Sub),
		Verified:     verified(r.Mode),
		ReceivedAt:   r.ReceivedAt,
		Payload:      r.Data,
		Report:       scan.Scan(r.Raw),
		Mode:         handoff.Mode(s.flags.mode),
		Fields:       s.flags.fields,
	}
	sealed, err := envelope.Seal()
	if err != nil {
		s.err = fmt.Errorf("event %d: %w", r.Seq, err)
		return b
	}
	return append(b, sealed...)
}

// verified says what is known about the origin of an event.
func verified(m event.Mode) string {
	if m == event.ModeWebhook {
		return "webhook signature verified"
	}
	return "received on a connection to the server"
}
