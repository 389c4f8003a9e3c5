package filterbar

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/widget"
)

// learnMax bounds the newest records from which values for completion are learned.
const learnMax = 2_000

// Learn reads the values for completion from the newest records in the background; then it calls done
// on the event loop.
func (b *Bar) Learn(done func()) tea.Cmd {
	snap, log := *b.env.Snap, b.env.Log()
	return b.env.Do(func(ctx context.Context) tea.Msg {
		seen := &filter.Seen{}
		for i := range snap.Servers {
			s := &snap.Servers[i]
			seen.Know("server", trust.Untrusted(s.Name))
			for j := range s.Types {
				seen.Know("type", s.Types[j].Name)
			}
		}
		left := learnMax
		err := log.Before(0, func(r event.Record) bool {
			seen.Add(&r)
			left--
			return left > 0 && ctx.Err() == nil
		})
		return widget.Then(func() tea.Cmd {
			if b.seen = seen; err != nil { // it still has the names of servers and types
				b.env.Fail("cannot read the log", err)
			}
			done()
			return nil
		})
	})
}

// completions has the candidates for the term at the cursor; tab goes from one to the next.
type completions struct {
	list   []filter.Candidate
	at     int
	before string // the line without a candidate
	made   string // the line with the present candidate
}

// Paths returns the paths into payloads that complete a text; see [Bar.Learn].
func (b *Bar) Paths(text string) []string {
	if text == "" {
		text = "."
	}
	var out []string
	for _, c := range filter.Complete(text, len(text), b.seen) {
		if strings.HasPrefix(c.Text, ".") && len(c.Text) > 1 {
			out = append(out, c.Text)
		}
	}
	return out
}

// complete inserts the next candidate for the term at the cursor.
func (b *Bar) complete() {
	p, o := b.line, &b.completions
	text := p.Field.Text()
	if len(o.list) > 0 && text == o.made {
		o.at = (o.at + 1) % len(o.list)
	} else {
		cursor := len(string([]rune(text)[:p.Field.Column()]))
		*o = completions{list: filter.Complete(text, cursor, b.seen), before: text}
	}
	if h, ok := filter.HintOf(text, b.seen); ok && h.Meant != "" && len(o.list) == 0 {
		p.Field.Set(h.Meant)
		p.Changed()
		return
	}
	if len(o.list) == 0 {
		p.Says = "nothing is known that goes on like this"
		return
	}
	c := o.list[o.at]
	o.made = o.before[:c.From] + c.Text + o.before[c.To:]
	p.Field.Set(o.made)
	p.Field.SetColumn(len([]rune(o.before[:c.From] + c.Text)))
	p.Changed()
	p.Says = o.words()
}

// words lists the candidates, the present one first.
func (o *completions) words() string {
	var b strings.Builder
	for i := range min(len(o.list), 12) {
		c := o.list[(o.at+i)%len(o.list)]
		if i > 0 {
			b.WriteString("   ")
		}
		b.WriteString(c.Text)
		if i == 0 && c.Help != "" {
			b.WriteString(" (" + c.Help + ")")
		}
	}
	return b.String()
}
