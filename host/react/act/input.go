// Makes the input of an act from the members of its run: an envelope, lines of
// JSON, or the body of a webhook. The same run always gives the same bytes.

package act

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/filter"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
)

// MaxBytes is the largest input of an act, in bytes. If the members need more, some in the middle
// are left out; the input also says how many there were.
const MaxBytes = 256 << 10

// fitting calls make with smaller and smaller limits for the members, until the result fits into
// MaxBytes.
func fitting(make func(most int) ([]byte, error)) ([]byte, error) {
	for most := MaxBytes; ; most /= 2 {
		text, err := make(most)
		if err != nil || len(text) <= MaxBytes || most == 0 {
			return text, err
		}
	}
}

// Lines returns the members as lines of JSON, those of [export.AppendLine].
func Lines(members []event.Record) []byte {
	var b []byte
	for _, line := range kept(members, MaxBytes) {
		b = append(b, line...)
	}
	return b
}

// kept returns lines of members with at most most bytes, leaving out members in the middle.
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

// Envelope returns the members in one envelope, with its delimiters. For a single event it holds
// the payload as received; for several, their summary. With fields, which are paths of the
// payload, it holds only the values at these paths.
//
// Errors: a field that is not a path.
func Envelope(run react.Run, members []event.Record, fields []string) ([]byte, error) {
	if len(fields) > 0 {
		var err error
		if members, err = chosen(members, fields); err != nil {
			return nil, err
		}
		run.Members.Top = nil
	}
	return fitting(func(most int) ([]byte, error) { return sealed(run, members, most) })
}

// sealed is Envelope without fields, with at most most bytes of members.
func sealed(run react.Run, members []event.Record, most int) ([]byte, error) {
	if one := len(members) == 1 && run.Members.Count <= 1 && members[0].Kind == event.KindEvent; one && len(members[0].Data) <= most {
		return Seal(run.ID, export.Envelope(&members[0]))
	}
	e := scan.Envelope{Origin: "mcp-events", Payload: summary(run, members, most)}
	if len(members) > 0 {
		first := members[0]
		e.Server, e.Subscription, e.ReceivedAt = trust.Untrusted(first.Server), string(first.Sub), first.ReceivedAt
	}
	return Seal(run.ID, e)
}

// Seal scans a payload and puts it in an envelope. The nonce depends only on run, origin and
// payload, so that the sender of the payload cannot predict it.
func Seal(id react.RunID, e scan.Envelope) ([]byte, error) {
	e.Report = scan.Scan(e.Payload)
	e.Rand = newStream(id, e.Payload)
	text, err := e.Seal()
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	return text, nil
}

// chosen returns copies of the members that hold only the values at these paths of their
// payloads, and nothing else from the server: the type is the one that was subscribed to.
func chosen(members []event.Record, fields []string) ([]event.Record, error) {
	paths := make([]*filter.Path, len(fields))
	for i, field := range fields {
		var err error
		if paths[i], err = filter.ParsePath("." + strings.TrimPrefix(field, ".")); err != nil {
			return nil, fmt.Errorf("field %q: %w", field, err)
		}
	}
	out := make([]event.Record, len(members))
	for i, m := range members {
		out[i] = event.Record{Seq: m.Seq, Kind: m.Kind, Server: m.Server, Type: m.Type, Sub: m.Sub, Mode: m.Mode, ReceivedAt: m.ReceivedAt, Gap: m.Gap}
		if m.Kind != event.KindEvent {
			continue
		}
		data := []byte{'{'}
		for j, p := range paths {
			value, ok := p.JSON(m.Data)
			if !ok {
				continue
			}
			if len(data) > 1 {
				data = append(data, ',')
			}
			data = append(trust.AppendJSONString(data, fields[j]), ':')
			data = append(data, value...)
		}
		out[i].Data = append(data, '}')
	}
	return out, nil
}

// summary returns one JSON object with counts, times and frequent values of all members, and the
// first and last members in full.
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

// stream is a deterministic source of bytes.
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

// Body returns the body of a webhook: the summary, with a type and a time as Standard Webhooks
// recommends.
func Body(run react.Run, members []event.Record) ([]byte, error) {
	return fitting(func(most int) ([]byte, error) {
		b := []byte(`{"type":"eventdeck.reaction"`)
		b = export.AppendTime(b, "timestamp", run.Created.UTC().Truncate(time.Second))
		b = append(export.AppendName(b, "data"), summary(run, members, most)...)
		return append(b, '}'), nil
	})
}
