package stream

import (
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

// LabelSet says which labels records have: what a server says of an event beside
// its data.
type LabelSet uint8

const (
	hasName LabelSet = 1 << iota
	hasPriority
	hasTags
	hasBatch
)

// LabelColumns are the columns that show labels. They are offered where records have them.
// Without them a row tells its priority as its severity, a bracket before the summary shows a
// batch, and name and tags stand behind the summary.
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

// LabelsOf forms the labels of a record of a type; nil if it has none. A name that begins as the
// type does is what follows that, as the type stands beside it.
func LabelsOf(l *event.Labels, typ trust.Text) *rowLabels {
	if l == nil {
		return nil
	}
	name := l.Name
	if rest, ok := strings.CutPrefix(name.Raw(), typ.Raw()); ok && rest != "" && !typ.IsZero() {
		name = trust.Untrusted(rest)
	}
	out := &rowLabels{name: trust.Line(name), priority: trust.Line(l.Priority), tags: trust.Line(evidence.TagWords(l)), batch: trust.Line(l.Batch)}
	for has, is := range map[LabelSet]bool{hasName: !l.Name.IsZero(), hasPriority: !l.Priority.IsZero(), hasTags: len(l.Tags) > 0, hasBatch: !l.Batch.IsZero()} {
		if is {
			out.Set |= has
		}
	}
	return out
}

// value is what a column of labels shows of the row.
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

// behind is what stands behind the summary: the name and the tags, but for what has a column.
func (l *rowLabels) behind(p *Plan) trust.Rendered {
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

// joint says how a row stands among its neighbours that came in the same batch.
type joint uint8

const (
	noJoint joint = iota
	FirstOf
	Amidst
	LastOf
)

// jointOf looks at the rows beside row i of the stream.
func (s *Stream) jointOf(i int) joint {
	r := s.row(s.Seqs[i])
	if r.labels == nil || r.labels.Set&hasBatch == 0 {
		return noJoint
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
		return Amidst
	case before:
		return LastOf
	case after:
		return FirstOf
	}
	return noJoint
}

// layJoint writes the bracket of a batch before a summary.
func layJoint(c *cells.Canvas, g *cells.Glyphs, j joint) {
	if j != noJoint {
		c.Put(themes.Gutter, g.Joints[j-1]+" ")
	}
}
