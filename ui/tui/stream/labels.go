package stream

import (
	"strings"

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
// the rows of a batch, and name and tags follow the summary.
var LabelColumns = []struct {
	Kind Kind
	Has  LabelSet
}{
	{ColName, hasName},
	{ColPriority, hasPriority},
	{ColTags, hasTags},
	{ColBatch, hasBatch},
}

// rowLabels are a record's labels as a row shows them.
type rowLabels struct {
	Set                         LabelSet
	name, priority, tags, batch trust.Rendered
}

// LabelsOf renders the labels of a record; nil if it has none. A name that starts with the type
// is shown without it: the type has a column of its own.
func LabelsOf(l *event.Labels, typ trust.Text) *rowLabels {
	if l == nil {
		return nil
	}
	name := l.Name
	if rest, ok := strings.CutPrefix(name.Raw(), typ.Raw()); ok && rest != "" && !typ.IsZero() {
		name = trust.Untrusted(rest)
	}
	out := &rowLabels{name: trust.Line(name), priority: trust.Line(l.Priority), tags: trust.Line(evidence.TagWords(l)), batch: trust.Line(l.Batch)}
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
	case ColName:
		return l.name
	case ColPriority:
		return l.priority
	case ColTags:
		return l.tags
	case ColBatch:
		return l.batch
	}
	return trust.Rendered{}
}

// suffix returns the text after the summary: the name and the tags, except those with a column.
func (l *rowLabels) suffix(p *Plan) trust.Rendered {
	var out trust.Rendered
	if l == nil {
		return out
	}
	for _, kind := range []Kind{ColName, ColTags} {
		if v := l.value(kind); v.Width > 0 && !p.has(kind) {
			out = cells.Join(out, cells.Sanitize("  "), v)
		}
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
