package board

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sort"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/table"
)

// logRows bounds the rows of a log.
const logRows = 5_000

// seqs are the numbers of the rows of a log, ascending.
type seqs []uint64

func (s seqs) Len() int             { return len(s) }
func (s seqs) ID(i int) table.RowID { return table.RowID{Seq: s[i]} }

func (s seqs) Find(id table.RowID) int {
	i := sort.Search(len(s), func(i int) bool { return s[i] >= id.Seq })
	if i < len(s) && s[i] == id.Seq {
		return i
	}
	return -1
}

// ringLog lists the entries of a ring of the host that contain a text.
type ringLog[T any] struct {
	env *Env
	seqs
	ring  func(Host) *eventlog.Ring[T]
	at    func(entry *T) time.Time
	holds func(entry *T, text string) bool // text is in lower case
	of    *eventlog.Ring[T]                // the ring that was read last
	seen  uint64                           // the newest entry that was read
	text  string
	shown map[uint64]T // a cache of drawn entries
}

// read adds new entries, and drops those that the ring has dropped. It reports whether rows changed.
// The host may be another one than before, with a ring of its own.
func (t *ringLog[T]) read() bool {
	ring := t.ring(t.env.Host)
	if ring == nil {
		return false
	}
	before, first := len(t.seqs), uint64(0)
	if !ring.SameAs(t.of) {
		t.of, t.seen, t.seqs, t.shown = ring, 0, nil, nil
		before = -1
	}
	ring.After(0, func(seq uint64, _ T) bool { first = seq; return false })
	if i := sort.Search(len(t.seqs), func(i int) bool { return t.seqs[i] >= first }); i > 0 {
		t.seqs = slices.Clone(t.seqs[i:])
		before = -1
	}
	ring.After(t.seen, func(seq uint64, v T) bool {
		t.seen = seq
		if t.text == "" || t.holds(&v, t.text) {
			t.seqs = append(t.seqs, seq)
		}
		return true
	})
	if len(t.shown) > 256 {
		clear(t.shown)
	}
	return len(t.seqs) != before
}

// Filter shows only entries that contain a text.
func (t *ringLog[T]) Filter(text string) {
	t.text, t.seen, t.seqs = strings.ToLower(text), 0, nil
}

// entry returns one entry of the ring.
func (t *ringLog[T]) entry(seq uint64) (out T, ok bool) {
	if v, ok := t.shown[seq]; ok {
		return v, true
	}
	t.ring(t.env.Host).After(seq-1, func(at uint64, v T) bool {
		out, ok = v, at == seq
		return false
	})
	if ok {
		if t.shown == nil {
			t.shown = map[uint64]T{}
		}
		t.shown[seq] = out
	}
	return out, ok
}

// whenCell returns the cell for the time of row i, which is not known for an entry that the ring has
// dropped.
func (t *ringLog[T]) whenCell(i int) table.Cell {
	return t.env.when(i, func(i int) time.Time {
		v, ok := t.entry(t.seqs[i])
		if !ok {
			return time.Time{}
		}
		return t.at(&v)
	}, cells.StampTime)
}

// wireLog lists the frames of the wire.
type wireLog struct{ ringLog[host.WireFrame] }

func newWireLog(e *Env) *wireLog {
	return &wireLog{ringLog[host.WireFrame]{env: e, ring: Host.Wire, at: func(f *host.WireFrame) time.Time { return f.At }, holds: func(f *host.WireFrame, text string) bool {
		return cells.HasText(f.Server, text) || cells.HasText(f.Frame.Raw(), text)
	}}}
}

func (t *wireLog) Columns() []table.Column {
	return []table.Column{
		{Title: "AT", Width: 13},
		{Title: "SERVER", Width: 10, Rank: 1},
		{Title: "", Width: 4},
		{Title: "WHAT", Width: 20, Grow: 1},
		{Title: "FRAME", Width: 20, Grow: 3, Rank: 4},
		{Title: "BYTES", Width: 9, Right: true, Rank: 3},
	}
}

func (t *wireLog) Load() bool { return t.read() }

func (t *wireLog) Cell(i, col int) table.Cell {
	f, ok := t.entry(t.seqs[i])
	if !ok {
		return table.Cell{}
	}
	switch col {
	case 0:
		return t.whenCell(i)
	case 1:
		return table.Say(themes.Server, f.Server)
	case 2:
		if f.Sent {
			return table.Say(themes.Busy, "sent")
		}
		return table.Say(themes.Good, "got")
	case 3:
		if f.Passed > 0 {
			return table.Say(themes.Dim, "behind "+cells.Count(f.Passed, "event")+" not kept")
		}
		return table.Cell{Role: themes.Type, Text: frameWhat(f.Frame)}
	case 4:
		return table.Cell{Role: themes.Plain, Text: trust.Line(trust.Untrusted(f.Frame.Raw()[:min(f.Frame.Len(), 512)]))}
	}
	return table.Say(themes.Dim, cells.Number(uint64(f.Bytes)))
}

// frameWhat returns the method of a JSON-RPC frame, or "error" or "result".
func frameWhat(t trust.Text) trust.Rendered {
	raw := []byte(t.Raw())
	if method := member(raw, "method"); method != nil {
		var s trust.Text
		if json.Unmarshal(method, &s) == nil {
			return trust.Line(s)
		}
	}
	for _, name := range []string{"error", "result"} {
		if member(raw, name) != nil {
			return cells.Sanitize(name)
		}
	}
	return trust.Rendered{}
}

// member returns the value of a member of a JSON object, nil if there is none. The object may be cut
// off after the member. For "error" and "result" it returns true in place of the value.
func member(raw []byte, name string) json.RawMessage {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil
		}
		if key == name && (name == "error" || name == "result") {
			return json.RawMessage("true")
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return nil
		}
		if key == name {
			return v
		}
	}
	return nil
}

func (t *wireLog) Describe(d *detail.Text, id table.RowID) {
	f, ok := t.entry(id.Seq)
	if !ok {
		d.Say("", themes.Dim, "This frame is no longer kept.")
		return
	}
	way := "received from "
	if f.Sent {
		way = "sent to "
	}
	d.Say("", themes.Strong, way+f.Server)
	d.Say("at      ", themes.Plain, cells.TimeText(f.At, d.Zone(), cells.StampFull))
	d.Say("size    ", themes.Plain, cells.Count(f.Bytes, "byte"))
	if f.Bytes > f.Frame.Len() {
		d.Say("", themes.Warn, "the end of the frame was not kept")
	}
	lines := trust.JSON([]byte(f.Frame.Raw()), max(d.Width-1, 1))
	if f.Sent {
		for _, l := range lines {
			d.Lines = append(d.Lines, detail.Line{Text: l})
		}
		return
	}
	d.Quote(f.Server, lines)
}

func (t *wireLog) EmptyText() []string {
	if t.text != "" {
		return []string{"No frame holds these words.", "", "esc takes them away."}
	}
	return []string{"No frames yet. Secrets in them are masked; they are kept in memory only."}
}

// appLog lists warnings of the program and lines that servers wrote to standard error.
type appLog struct{ ringLog[host.LogLine] }

func newAppLog(e *Env) *appLog {
	return &appLog{ringLog[host.LogLine]{env: e, ring: Host.AppLog, at: func(l *host.LogLine) time.Time { return l.At }, holds: func(l *host.LogLine, text string) bool {
		return cells.HasText(l.Server, text) || cells.HasText(l.Text, text) || cells.HasText(l.Level.String(), text)
	}}}
}

func (t *appLog) Columns() []table.Column {
	return []table.Column{
		{Title: "AT", Width: 13},
		{Title: "LEVEL", Width: 6},
		{Title: "SERVER", Width: 10, Rank: 1},
		{Title: "WHAT", Width: 20, Grow: 1},
		{Title: "ATTRIBUTES", Width: 16, Grow: 1, Rank: 2},
	}
}

func (t *appLog) Load() bool { return t.read() }

func (t *appLog) Cell(i, col int) table.Cell {
	l, ok := t.entry(t.seqs[i])
	if !ok {
		return table.Cell{}
	}
	level, message, attributes := splitLine(&l)
	switch col {
	case 0:
		return t.whenCell(i)
	case 1:
		return table.Say(levelRole(level), strings.ToLower(level.String()))
	case 2:
		return table.Say(themes.Server, l.Server)
	case 3:
		return table.Say(levelRole(level), message)
	}
	return table.Say(themes.Dim, attributes)
}

func levelRole(l slog.Level) themes.Role {
	switch {
	case l >= slog.LevelError:
		return themes.Bad
	case l >= slog.LevelWarn:
		return themes.Warn
	}
	return themes.Plain
}

func (t *appLog) Describe(d *detail.Text, id table.RowID) {
	l, ok := t.entry(id.Seq)
	if !ok {
		d.Say("", themes.Dim, "This line is no longer kept.")
		return
	}
	level, _, _ := splitLine(&l)
	d.Say("", levelRole(level), strings.ToLower(level.String()))
	d.Say("at      ", themes.Plain, cells.TimeText(l.At, d.Zone(), cells.StampFull))
	d.Say("server  ", themes.Plain, l.Server)
	for _, line := range trust.Block(trust.Unescaped(l.Text), max(d.Width-1, 1)) {
		d.Lines = append(d.Lines, detail.Line{Text: line})
	}
}

func (t *appLog) EmptyText() []string {
	if t.text != "" {
		return []string{"No line holds these words.", "", "esc takes them away."}
	}
	return []string{"No warnings."}
}

// AppLog reports whether a table is the log of the program.
func AppLog(t *table.Table) bool { _, ok := t.Src.(*appLog); return ok }
