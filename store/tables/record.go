// Has the stored form of records, and what makes two records the same: their
// identity and its hashes. It knows no files.

package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/boltfile"
)

// recordVersion is the first byte of every stored record.
//
// A record is: version, uvarint length of the head, head, raw bytes. The head is
//
//	kind, uvarint bits, sub, server, type, mode, received at,
//	event id, timestamp, webhook id, reason, flags
//
// and then, as the bits say: the cursor (a bit tells that it came as a number); where the
// data lies in the raw bytes (uvarint offset and length) or the data itself; the same of the
// meta; the gap; the state; the labels. A text is a uvarint length and bytes; a time is a varint of seconds and
// a uvarint of nanoseconds since the Unix epoch. The sequence number is the key.
const recordVersion = 1

// Bits of a record's head.
const (
	hasCursor = 1 << iota
	hasRaw
	hasData
	dataApart // the data is not a part of the raw bytes
	hasGap
	gapCertain
	hasState
	replayed
	hasLabels
	cursorNumber
	hasMeta
	metaApart // the meta is not a part of the raw bytes
)

// The codes of the kinds are their positions here.
var kinds = [...]event.Kind{1: event.KindEvent, 2: event.KindGap, 3: event.KindState, 4: event.KindRejected}

// ErrInvalid: bytes are not a record, or not one that this program knows.
var ErrInvalidRecord = errors.New("not a record of this version")

// EncodedRecord is the stored form of a record, and where its exact bytes are in it.
type EncodedRecord struct {
	Value           []byte
	Raw, Data, Meta []byte // parts of value, or nil
}

// EncodeRecord returns the stored form of r, which shares no memory with r. A
// record of an unknown kind is an error.
func EncodeRecord(r *event.Record) (EncodedRecord, error) {
	kind := slices.Index(kinds[:], r.Kind)
	if kind < 1 {
		return EncodedRecord{}, fmt.Errorf("a record of kind %q cannot be stored", string(r.Kind))
	}
	data, meta := placeOf(r.Raw, r.Data), placeOf(r.Raw, r.Meta)
	var scratch [512]byte
	head := appendHead(append(scratch[:0], byte(kind)), r, &data, &meta)

	v := make([]byte, 0, 1+binary.MaxVarintLen32+len(head)+len(r.Raw)+boltfile.SumSize)
	v = append(v, recordVersion)
	v = binary.AppendUvarint(v, uint64(len(head)))
	headAt := len(v)
	v = append(v, head...)
	rawAt := len(v)
	v = append(v, r.Raw...)

	e := EncodedRecord{Value: v}
	if r.Raw != nil {
		e.Raw = v[rawAt:len(v):len(v)]
	}
	e.Data, e.Meta = data.in(v[headAt:], e.Raw), meta.in(v[headAt:], e.Raw)
	return e, nil
}

// place is where a part of a record lies: its data or its meta.
type place struct {
	has, apart     bool // apart: in the head, not in the raw bytes
	offset, length uint64
}

func placeOf(raw, part []byte) place {
	if part == nil {
		return place{}
	}
	at := within(raw, part)
	return place{has: true, apart: at < 0 || raw == nil, offset: uint64(max(at, 0)), length: uint64(len(part))}
}

// in returns the part.
func (p place) in(head, raw []byte) []byte {
	switch {
	case !p.has:
		return nil
	case p.apart:
		raw = head
	}
	return raw[p.offset:][:p.length:p.length]
}

// appendTo appends where the part lies, or the part itself.
func (p *place) appendTo(head, part []byte) []byte {
	switch {
	case p.apart:
		head = binary.AppendUvarint(head, p.length)
		p.offset = uint64(len(head))
		return append(head, part...)
	case p.has:
		head = binary.AppendUvarint(head, p.offset)
		return binary.AppendUvarint(head, p.length)
	}
	return head
}

// appendHead appends what follows the kind in a record's head, and notes where its parts are.
func appendHead(head []byte, r *event.Record, data, meta *place) []byte {
	bits := recordBits(r, *data, *meta)
	head = binary.AppendUvarint(head, bits)
	for _, s := range [...]string{string(r.Sub), r.Server, r.Type.Raw(), string(r.Mode)} {
		head = appendText(head, s)
	}
	head = appendTime(head, r.ReceivedAt)
	for _, t := range [...]trust.Text{r.EventID, r.Timestamp, r.WebhookID, r.Reason} {
		head = appendText(head, t.Raw())
	}
	head = binary.AppendUvarint(head, uint64(len(r.Flags)))
	for _, f := range r.Flags {
		head = appendText(head, f)
	}
	if bits&hasCursor != 0 {
		head = appendText(head, r.Cursor.Text.Raw())
	}
	head = meta.appendTo(data.appendTo(head, r.Data), r.Meta)
	if r.Gap != nil {
		head = appendText(head, string(r.Gap.Cause))
		head = appendTime(head, r.Gap.From)
		head = appendTime(head, r.Gap.To)
	}
	if r.State != nil {
		head = appendText(head, string(r.State.State))
		head = appendText(head, r.State.Evidence)
		head = appendText(head, r.State.Error.Raw())
	}
	if l := r.Labels; l != nil {
		for _, t := range [...]trust.Text{l.Name, l.Priority, l.Batch} {
			head = appendText(head, t.Raw())
		}
		head = binary.AppendUvarint(head, uint64(len(l.Tags)))
		for _, t := range l.Tags {
			head = appendText(head, t.Raw())
		}
	}
	return head
}

func recordBits(r *event.Record, data, meta place) (bits uint64) {
	set := func(on bool, bit uint64) {
		if on {
			bits |= bit
		}
	}
	set(r.Cursor.Valid, hasCursor)
	set(r.Cursor.Valid && r.Cursor.Number, cursorNumber)
	set(r.Raw != nil, hasRaw)
	set(r.Replayed, replayed)
	set(r.Gap != nil, hasGap)
	set(r.Gap != nil && r.Gap.Certain, gapCertain)
	set(r.State != nil, hasState)
	set(r.Labels != nil, hasLabels)
	set(data.has, hasData)
	set(data.apart, dataApart)
	set(meta.has, hasMeta)
	set(meta.apart, metaApart)
	return bits
}

// within returns the offset at which part lies in whole, or -1. A slice of the
// same array is found by its capacity, so that the usual case costs nothing.
func within(whole, part []byte) int {
	at := cap(whole) - cap(part)
	if len(part) > 0 && at >= 0 && at+len(part) <= len(whole) && &whole[at] == &part[0] {
		return at
	}
	return bytes.Index(whole, part)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendTime(b []byte, t time.Time) []byte {
	b = binary.AppendVarint(b, t.Unix())
	return binary.AppendUvarint(b, uint64(t.Nanosecond()))
}

// DecodeRecord returns the record of a stored value. It shares no memory with
// the value.
//
// Error: [ErrInvalidRecord].
func DecodeRecord(seq uint64, value []byte) (event.Record, error) {
	head, raw, err := splitRecord(value)
	if err != nil {
		return event.Record{}, err
	}
	var r event.Record
	err = readRecord(&r, seq, string(head), append([]byte{}, raw...))
	return r, err
}

// DecodeShared decodes a stored value into r, which then refers to the value itself, and to memory
// that the next call with the same r reuses.
//
// Error: [ErrInvalidRecord].
func DecodeShared(r *event.Record, seq uint64, value []byte) error {
	head, raw, err := splitRecord(value)
	if err != nil {
		return err
	}
	return readRecord(r, seq, unsafe.String(unsafe.SliceData(head), len(head)), raw)
}

// readRecord reads a record from its head and its raw bytes, and keeps both.
func readRecord(r *event.Record, seq uint64, head string, raw []byte) error {
	h := headReader{rest: head}
	bits, data, meta := h.record(r)
	r.Seq = seq
	switch {
	case bits&hasRaw != 0:
		r.Raw = raw[:len(raw):len(raw)]
	case len(raw) > 0:
		h.bad = true
	}
	for _, part := range [...]struct {
		place
		to *[]byte
	}{{data, &r.Data}, {meta, &r.Meta}} {
		switch n := uint64(len(r.Raw)); {
		case !part.has || part.apart:
		case r.Raw == nil || part.offset > n || part.length > n-part.offset:
			h.bad = true
		default:
			*part.to = part.in(nil, r.Raw)
		}
	}
	if h.bad || h.rest != "" {
		*r = event.Record{}
		return ErrInvalidRecord
	}
	return nil
}

// DecodeRecordHead returns a record without its raw bytes and data.
//
// Error: [ErrInvalidRecord].
func DecodeRecordHead(value []byte) (event.Record, error) {
	head, _, err := splitRecord(value)
	if err != nil {
		return event.Record{}, err
	}
	h := headReader{rest: string(head)}
	var r event.Record
	h.record(&r)
	if h.bad {
		return event.Record{}, ErrInvalidRecord
	}
	return r, nil
}

func splitRecord(value []byte) (head, raw []byte, err error) {
	if len(value) == 0 || value[0] != recordVersion {
		return nil, nil, ErrInvalidRecord
	}
	n, size := binary.Uvarint(value[1:])
	if size <= 0 || n > uint64(len(value)-1-size) {
		return nil, nil, ErrInvalidRecord
	}
	head = value[1+size:][:n]
	return head, value[1+size+int(n):], nil
}

// headReader reads a head from a string, so that all texts of a record share
// one allocation. After the first mistake everything reads as zero.
type headReader struct {
	rest string
	bad  bool
}

// part reads where a part of a record lies, and a part that is in the head into to.
func (h *headReader) part(bits, has, apart uint64, to *[]byte) place {
	p := place{has: bits&has != 0, apart: bits&apart != 0}
	switch {
	case p.apart:
		*to = append([]byte{}, h.text()...)
	case p.has:
		p.offset, p.length = h.uvarint(), h.uvarint()
	}
	return p
}

// record reads a head into r, of which it uses the room for flags again.
func (h *headReader) record(r *event.Record) (bits uint64, data, meta place) {
	*r = event.Record{Flags: r.Flags[:0]}
	if h.rest == "" || int(h.rest[0]) >= len(kinds) || h.rest[0] == 0 {
		h.fail()
		return 0, data, meta
	}
	r.Kind = kinds[h.rest[0]]
	h.rest = h.rest[1:]
	bits = h.uvarint()
	r.Sub = event.SubID(h.text())
	r.Server = h.text()
	r.Type = trust.Untrusted(h.text())
	r.Mode = event.Mode(h.text())
	r.ReceivedAt = h.time()
	r.EventID = trust.Untrusted(h.text())
	r.Timestamp = trust.Untrusted(h.text())
	r.WebhookID = trust.Untrusted(h.text())
	r.Reason = trust.Untrusted(h.text())
	r.Replayed = bits&replayed != 0
	for n := h.uvarint(); n > 0 && !h.bad; n-- {
		r.Flags = append(r.Flags, h.text())
	}
	if bits&hasCursor != 0 {
		r.Cursor = event.Cursor{Text: trust.Untrusted(h.text()), Valid: true, Number: bits&cursorNumber != 0}
	}
	data, meta = h.part(bits, hasData, dataApart, &r.Data), h.part(bits, hasMeta, metaApart, &r.Meta)
	if bits&hasGap != 0 {
		r.Gap = &event.Gap{Cause: event.Cause(h.text()), From: h.time(), To: h.time(), Certain: bits&gapCertain != 0}
	}
	if bits&hasState != 0 {
		r.State = &event.StateChange{State: event.State(h.text()), Evidence: h.text(), Error: trust.Untrusted(h.text())}
	}
	if bits&hasLabels != 0 {
		l := &event.Labels{Name: trust.Untrusted(h.text()), Priority: trust.Untrusted(h.text()), Batch: trust.Untrusted(h.text())}
		for n := h.uvarint(); n > 0 && !h.bad; n-- {
			l.Tags = append(l.Tags, trust.Untrusted(h.text()))
		}
		r.Labels = l
	}
	return bits, data, meta
}

func (h *headReader) fail() { h.bad, h.rest = true, "" }

func (h *headReader) uvarint() uint64 {
	var v uint64
	for i := 0; i < len(h.rest) && i < binary.MaxVarintLen64; i++ {
		b := h.rest[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			h.rest = h.rest[i+1:]
			return v
		}
	}
	h.fail()
	return 0
}

func (h *headReader) text() string {
	n := h.uvarint()
	if n > uint64(len(h.rest)) {
		h.fail()
		return ""
	}
	s := h.rest[:n]
	h.rest = h.rest[n:]
	return s
}

func (h *headReader) time() time.Time {
	u := h.uvarint()
	sec, nsec := int64(u>>1)^-int64(u&1), h.uvarint()
	if nsec >= 1e9 {
		h.fail()
	}
	if h.bad {
		return time.Time{}
	}
	return time.Unix(sec, int64(nsec)).UTC()
}

// RecordSize is the number of bytes that a record counts as: its value and its key.
func RecordSize(value []byte) int64 { return int64(len(value)) + 8 }
