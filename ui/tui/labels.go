package tui

import (
	"cmp"
	"slices"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// labelSet says which labels records have: what a server says of an event beside
// its data.
type labelSet uint8

const (
	hasName labelSet = 1 << iota
	hasPriority
	hasTags
	hasBatch
)

// labelColumns are the columns that show labels. They are offered, and the usual
// ones shown, where records have them.
var labelColumns = []struct {
	kind  columnKind
	has   labelSet
	usual bool
}{
	{colName, hasName, true},
	{colPriority, hasPriority, false}, // the column of what is grave shows it
	{colTags, hasTags, true},
	{colBatch, hasBatch, false}, // brackets before the summaries show it
}

// rowLabels are a record's labels as a row shows them.
type rowLabels struct {
	set                         labelSet
	name, priority, tags, batch trust.Rendered
}

// labelsOf forms the labels of a record; nil if it has none.
func labelsOf(l *event.Labels) *rowLabels {
	if l == nil {
		return nil
	}
	out := &rowLabels{name: trust.Line(l.Name), priority: trust.Line(l.Priority), tags: trust.Line(evidence.TagWords(l)), batch: trust.Line(l.Batch)}
	for has, is := range map[labelSet]bool{hasName: !l.Name.IsZero(), hasPriority: !l.Priority.IsZero(), hasTags: len(l.Tags) > 0, hasBatch: !l.Batch.IsZero()} {
		if is {
			out.set |= has
		}
	}
	return out
}

// value is what a column of labels shows of the row.
func (l *rowLabels) value(kind columnKind) trust.Rendered {
	if l == nil {
		return trust.Rendered{}
	}
	switch kind {
	case colName:
		return l.name
	case colPriority:
		return l.priority
	case colTags:
		return l.tags
	case colBatch:
		return l.batch
	}
	return trust.Rendered{}
}

// labelsSeen returns the labels of the newest records of a scope, and of those that
// the stream shows of it.
func (a *app) labelsSeen(n query.Node) (seen labelSet) {
	if n == a.stream.query.Node {
		seen = a.stream.labels
	}
	left := seenRecords
	_ = a.api.Log().Before(0, func(r event.Record) bool { // what cannot be read offers nothing
		left--
		if n.Holds(&r) && r.Labels != nil {
			seen |= labelsOf(r.Labels).set
		}
		return left > 0
	})
	return seen
}

// usual returns the columns that are shown as long as nothing else was chosen.
func usual(labels labelSet) []streamColumn {
	out := make([]streamColumn, 0, len(usualColumns)+len(labelColumns))
	for _, c := range usualColumns {
		out = append(out, c)
		for _, l := range labelColumns {
			behind := colSummary
			if l.kind == colName {
				behind = colType
			}
			if c.Kind == behind && l.usual && labels&l.has != 0 {
				out = append(out, streamColumn{Kind: l.kind})
			}
		}
	}
	return out
}

// joint says how a row stands among its neighbours that came in the same batch.
type joint uint8

const (
	noJoint joint = iota
	firstOf
	amidst
	lastOf
)

// jointOf looks at the rows beside row i of the stream.
func (s *stream) jointOf(a *app, i int) joint {
	r := s.row(a, s.seqs[i])
	if r.labels == nil || r.labels.set&hasBatch == 0 {
		return noJoint
	}
	with := func(j int) bool {
		if j < 0 || j >= len(s.seqs) {
			return false
		}
		o := s.row(a, s.seqs[j])
		return o.labels != nil && o.sub == r.sub && o.labels.batch.Plain() == r.labels.batch.Plain()
	}
	switch before, after := with(i-1), with(i+1); {
	case before && after:
		return amidst
	case before:
		return lastOf
	case after:
		return firstOf
	}
	return noJoint
}

// layJoint writes the bracket of a batch before a summary.
func layJoint(c *cells.Canvas, g *cells.Glyphs, j joint) {
	if j != noJoint {
		c.Put(themes.Gutter, g.Joints[j-1]+" ")
	}
}

// sameBatch tells whether two records came as one.
func sameBatch(r, of *event.Record) bool {
	return r.Labels != nil && of.Labels != nil && !of.Labels.Batch.IsZero() && r.Sub == of.Sub && r.Labels.Batch == of.Labels.Batch
}

// batch lists what came in the same batch as the record, the record among it, in
// the order of arrival.
func (d *shownDetail) batch(of *event.Record, g *cells.Glyphs) {
	s := &d.same
	var members []event.Record
	for i := range s.found {
		if x := &s.found[i]; x.batch {
			members = append(members, x.r)
		}
	}
	if len(members) == 0 {
		return
	}
	members = append(members, *of)
	slices.SortFunc(members, func(x, y event.Record) int { return cmp.Compare(x.Seq, y.Seq) })
	d.Lines = append(d.Lines, detail.Line{Label: "batch   ", Role: themes.Strong, Text: cells.Join(trust.Line(of.Labels.Batch), cells.Sanitize(", "+cells.Count(len(members), "event")))})
	for i := range members {
		m, at := &members[i], amidst
		switch i {
		case 0:
			at = firstOf
		case len(members) - 1:
			at = lastOf
		}
		role := themes.Plain
		if m.Seq == of.Seq {
			role = themes.Strong
		}
		d.Lines = append(d.Lines, detail.Line{Gutter: true, Role: role, Seq: m.Seq, Text: cells.Join(cells.Sanitize(g.Joints[at-1]+" "), d.sameLine(m))})
	}
}
