package act

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/host/trust/handoff"
	"eventdeck/host/trust/scan"
)

// maxInput bounds what an act gets, in bytes. Of more, members in the middle are left out:
// how many there were stands beside those that are there.
const maxInput = 256 << 10

// fitting returns what make makes of the members with as many bytes of them as fit into
// maxInput.
func fitting(make func(most int) ([]byte, error)) ([]byte, error) {
	for most := maxInput; ; most /= 2 {
		text, err := make(most)
		if err != nil || len(text) <= maxInput || most == 0 {
			return text, err
		}
	}
}

// lines returns the members as lines of JSON, those of [export.AppendLine].
func lines(members []event.Record) []byte {
	var b []byte
	for _, line := range kept(members, maxInput) {
		b = append(b, line...)
	}
	return b
}

// kept returns lines of members with so many bytes at most, those in the middle left out.
func kept(members []event.Record, most int) [][]byte {
	all, size := make([][]byte, len(members)), 0
	for i := range members {
		all[i] = export.AppendLine(nil, &members[i], false)
		size += len(all[i])
	}
	for size > most {
		middle := len(all) / 2
		size -= len(all[middle])
		all = append(all[:middle], all[middle+1:]...)
	}
	return all
}

// envelope returns the members in one envelope, with its delimiters. Of a single event it
// holds the payload as it came; else what [summary] says. Its nonce depends on nothing but
// run and payload: the same run has the same bytes whenever it is asked for, and who writes
// the payload cannot put the nonce into it.
func envelope(run react.Run, members []event.Record) ([]byte, error) {
	return fitting(func(most int) ([]byte, error) { return sealed(run, members, most) })
}

// sealed is envelope with so many bytes of the members.
func sealed(run react.Run, members []event.Record, most int) ([]byte, error) {
	e := handoff.Envelope{Origin: "mcp-event"}
	if len(members) > 0 {
		first := members[0]
		e.Server, e.Subscription, e.ReceivedAt = trust.Untrusted(first.Server), string(first.Sub), first.ReceivedAt
	}
	if one := len(members) == 1 && run.Members.Count <= 1 && members[0].Kind == event.KindEvent; one && len(members[0].Data) <= most {
		e.Payload = members[0].Data
	} else {
		e.Origin, e.Payload = "mcp-events", summary(run, members, most)
	}
	e.Report = scan.Scan(e.Payload)
	e.Rand = newStream(run.ID, e.Payload)
	text, err := e.Seal()
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	return text, nil
}

// summary returns the members as one object: what is known of all, and those that are
// kept in full.
func summary(run react.Run, members []event.Record, most int) []byte {
	all := kept(members, most)
	b := trust.AppendJSONString([]byte(`{"run":`), string(run.ID))
	b = export.AppendString(b, "rule", run.Rule)
	b = fmt.Appendf(export.AppendName(b, "count"), "%d", run.Members.Count)
	b = export.AppendTime(b, "from", run.Members.From)
	b = export.AppendTime(b, "to", run.Members.To)
	if top, err := json.Marshal(run.Members.Top); err == nil && len(run.Members.Top) > 0 {
		b = append(export.AppendName(b, "top"), top...)
	}
	b = append(export.AppendName(b, "records"), '[')
	for i, line := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, bytes.TrimRight(line, "\n")...)
	}
	return append(b, "]}"...)
}

// stream is a source of bytes that follow from a seed.
type stream struct {
	seed [sha256.Size]byte
	n    uint64
	left []byte
}

func newStream(id react.RunID, payload []byte) io.Reader {
	return &stream{seed: sha256.Sum256(append([]byte(string(id)+"\n"), payload...))}
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		s.n++
		next := sha256.Sum256(binary.BigEndian.AppendUint64(s.seed[:], s.n))
		s.left = next[:]
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// body returns what a webhook sends: the summary, with a type and a time as Standard
// Webhooks recommends.
func body(run react.Run, members []event.Record) ([]byte, error) {
	return fitting(func(most int) ([]byte, error) {
		b := []byte(`{"type":"eventdeck.reaction"`)
		b = export.AppendTime(b, "timestamp", run.Created.UTC().Truncate(time.Second))
		b = append(export.AppendName(b, "data"), summary(run, members, most)...)
		return append(b, '}'), nil
	})
}
