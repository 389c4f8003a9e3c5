package events

import (
	"fmt"

	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/trust/scan"
	"eventdeck/ui/cli/plain"
)

// envelopeFlags ask for events in the envelopes in which commands and models get them.
type envelopeFlags struct {
	mode   string
	fields []string
}

// check refuses combinations of flags that make no sense. subs is how many subscriptions were
// named.
func (f envelopeFlags) check(subs int) error {
	switch scan.EnvelopeMode(f.mode) {
	case "":
		if len(f.fields) > 0 {
			return plain.UsageErrorf("--field goes with --envelope fields")
		}
		return nil
	case scan.ModeJSON, scan.ModeMarked, scan.ModeBase64:
		if len(f.fields) > 0 {
			return plain.UsageErrorf("--field goes with --envelope fields")
		}
	case scan.ModeFields:
		if len(f.fields) == 0 {
			return plain.UsageErrorf("--envelope fields needs at least one --field NAME")
		}
	default:
		return plain.UsageErrorf("--envelope %q: must be json, marked, base64 or fields", f.mode)
	}
	if subs == 0 {
		return plain.UsageErrorf("--envelope needs a subscription: eventdeck events SUB --envelope %s", f.mode)
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
	envelope := export.Envelope(&r)
	envelope.Mode, envelope.Fields = scan.EnvelopeMode(s.flags.mode), s.flags.fields
	sealed, err := envelope.Seal()
	if err != nil {
		s.err = fmt.Errorf("event %d: %w", r.Seq, err)
		return b
	}
	return append(b, sealed...)
}
