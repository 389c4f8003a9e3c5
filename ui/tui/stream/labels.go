package stream

import (
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

// LabelSet is a set of kinds of labels; see [event.Labels].
type LabelSet uint8

const (
	hasName LabelSet = 1 << iota
	hasPriority
	hasTags
	hasBatch
)

// LabelColumns are the columns that show labels. They are offered where records have them.
// Without these columns the priority is shown as the severity, a bracket before the summary marks
// the rows of a batch, and the tags follow the summary.
var LabelColumns = []struct {
	Kind Kind
	Has  LabelSet
}{
	{ColSubscribed, hasName},
	{ColPriority, hasPriority},
	{ColTags, hasTags},
	{ColBatch, hasBatch},
}

// rowLabels are a record's labels as a row shows them.
type rowLabels struct {
	Set                               LabelSet
	subscribed, priority, tags, batch trust.Rendered
	below                             trust.Rendered // see [event.Record.Below]
}

// LabelsOf renders the labels of a record; nil if it has none.
func LabelsOf(r *event.Record) *rowLabels {
	l := r.Labels
	if l == nil {
		return nil
	}
	out := &rowLabels{below: trust.Line(trust.Untrusted(r.Below())), subscribed: trust.Line(r.Subscribed()), priority: trust.Line(l.Priority), tags: trust.Line(evidence.TagWords(l)), batch: trust.Line(l.Batch)}
	add := func(kind LabelSet, has bool) {
		if has {
			out.Set |= kind
		}
	}
	add(hasName, !l.Name.IsZero())
	add(hasPriority, !l.Priority.IsZero())
	add(hasTags, len(l.Tags) > 0)
	add(hasBatch, !l.Batch.IsZero())
	return out
}

// value returns the text of a column of labels.
func (l *rowLabels) value(kind Kind) trust.Rendered {
	if l == nil {
		return trust.Rendered{}
	}
	switch kind {
	case ColSubscribed:
		return l.subscribed
	case ColPriority:
		return l.priority
	case ColTags:
		return l.tags
	case ColBatch:
		return l.batch
	}
	return trust.Rendered{}
}

// suffix returns the text after the summary: an event name of its own, or what it has below the
// subscribed resource, and the tags, except those with a column.
func (r *row) suffix(p *Plan) (out trust.Rendered) {
	if r.labels == nil {
		return out
	}
	if r.labels.below.Width > 0 {
		out = cells.Join(out, cells.Sanitize("  "), r.labels.below)
	} else if r.labels.Set&hasName != 0 && !p.has(ColType) {
		out = cells.Join(out, cells.Sanitize("  "), r.Type)
	}
	if r.labels.tags.Width > 0 && !p.has(ColTags) {
		out = cells.Join(out, cells.Sanitize("  "), r.labels.tags)
	}
	return out
}

// batchEdge is the position of a row among adjacent rows of the same batch.
type batchEdge uint8

const (
	noBatch batchEdge = iota
	batchFirst
	batchMiddle
	batchLast
)

// batchEdgeOf returns the batch edge of row i.
func (s *Stream) batchEdgeOf(i int) batchEdge {
	r := s.row(s.Seqs[i])
	if r.labels == nil || r.labels.Set&hasBatch == 0 {
		return noBatch
	}
	with := func(j int) bool {
		if j < 0 || j >= len(s.Seqs) {
			return false
		}
		o := s.row(s.Seqs[j])
		return o.labels != nil && o.sub == r.sub && o.labels.batch.Plain() == r.labels.batch.Plain()
	}
	switch before, after := with(i-1), with(i+1); {
	case before && after:
		return batchMiddle
	case before:
		return batchLast
	case after:
		return batchFirst
	}
	return noBatch
}

// drawBatchEdge writes the bracket of a batch before a summary.
func drawBatchEdge(c *cells.Canvas, g *cells.Glyphs, j batchEdge) {
	if j != noBatch {
		c.Put(themes.Gutter, g.Joints[j-1]+" ")
	}
}
