package react

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eventdeck/host/trust"
)

// BlockLine is a line of what an operator reads before approving, made from the request itself.
// Text is one line, safe to show, and may be long.
type BlockLine struct {
	Label string
	Text  trust.Rendered
	Warn  bool // it differs from what was approved last, or calls for care
}

// maxShown is how many bytes of a value a line shows; of a longer value it shows the beginning,
// the length and the hash. Arguments that a model or an agent chose are shown whole.
const maxShown = 4 << 10

// Block describes what is approved with the hash of the run's request: who acts, the exact act,
// its limits, and how it differs from last, the previously approved request of the same rule
// (nil: none). Both the screen and the commands show it. It holds nothing of a payload; see
// [Payload].
//
// A run without a request has no block.
func Block(run Run, rule RuleView, last *Request) []BlockLine {
	if run.Request == nil {
		return nil
	}
	r := *run.Request
	var b block
	switch {
	case r.Rule == AskRule:
		b.text("rule", "none, the operator asks", false)
	case r.Rule == ClientRule:
		b.text("rule", "none, a client of this host as an MCP server asks", false)
	case rule.Hash == "":
		b.text("rule", r.Rule+", not in force now", true)
	default:
		b.text("rule", fmt.Sprintf("%s, %s, %s", r.Rule, rule.Rule.Mode, rule.Rule.Where), false)
	}
	if rule.Hash != "" && rule.Hash != run.Hash {
		b.text("careful", "the rule or its program was changed; what acts is what stands here", true)
	}
	if r.Kind == RequestClient { // of no records
		b.text("run", string(run.ID), false)
	} else {
		b.text("run", string(run.ID)+", "+records(run), run.Stale || run.Flagged)
	}
	act := r.lines(run.Began)
	if i := slices.IndexFunc(act, func(l BlockLine) bool { return l.Label == labelInput }); i >= 0 && run.inputIsGone() {
		act[i].Text = trust.Line(trust.Untrusted("not kept of a run that is over"))
	}
	b.lines = append(b.lines, marked(act, r, last)...)
	b.letters(rule.Letters)
	if r.Kind != RequestClient { // two client requests have nothing in common
		b.compared(act, r, last)
	}
	if run.State == Asking && !run.Due.IsZero() {
		b.text("expires", run.Due.UTC().Format(time.RFC3339), false)
	}
	if hash := run.RequestHash(); hash != "" {
		b.text("hash", hash, false)
	}
	return b.lines
}

// inputIsGone reports whether the input of the request is no longer stored.
func (r *Run) inputIsGone() bool {
	return r.State.Over() && r.State != Denied && len(r.Request.Input) == 0
}

// RequestHash returns the hash of the run's request. Once the run is over, and its input no
// longer stored, it is the approved hash, "" if no approval was needed.
func (r *Run) RequestHash() string {
	switch {
	case r.Request == nil:
		return ""
	case r.inputIsGone():
		return r.Approved
	}
	return r.Request.Hash()
}

// labelInput is the label of the line about the input, which is not part of the act.
const labelInput = "input"

// Gutter begins every line of a payload below a block, so that it cannot be mistaken for a line
// of the block.
const Gutter = "│ "

// Payload returns the input of the act, line by line after [Gutter], wrapped to width cells. A
// width of 0 or less means no wrapping.
func Payload(r Request, width int) []trust.Rendered {
	if width > 0 {
		width = max(width-2, 1)
	}
	lines := trust.Block(trust.Untrusted(string(r.Input)), width)
	for i, line := range lines {
		lines[i] = trust.Rendered{Segments: append([]trust.Segment{{Text: Gutter}}, line.Segments...), Width: line.Width + 2}
	}
	return lines
}

func records(run Run) string {
	s := fmt.Sprintf("%d records from number %d", run.Request.Count, run.Request.Seq)
	if run.Request.Count == 1 {
		s = fmt.Sprintf("record number %d", run.Request.Seq)
	}
	if run.Stale {
		s += ", too old to act by itself"
	}
	if run.Flagged {
		s += ", something was noticed in a payload"
	}
	return s
}

// letters adds what an act could do by the Rule of Two; "" adds nothing. See [Capabilities].
func (b *block) letters(all string) {
	if all == "" {
		return
	}
	var words []string
	for _, l := range []struct{ letter, means string }{{"A", "untrusted input"}, {"B", "private data"}, {"C", "an effect or sending"}} {
		if strings.Contains(all, l.letter) {
			words = append(words, l.means)
		}
	}
	b.text("involves", strings.Join(words, ", ")+" ("+all+")", strings.Contains(all, "B") && strings.Contains(all, "C"))
}

// block collects lines.
type block struct{ lines []BlockLine }

// text adds a line of our own words.
func (b *block) text(label, words string, warn bool) {
	b.lines = append(b.lines, BlockLine{Label: label, Text: trust.Line(trust.Untrusted(words)), Warn: warn})
}

// value adds a line with a value in quotes and our own words after it. A long value is cut.
func (b *block) value(label, value, words string) {
	cut := len(value) > maxShown
	if cut {
		words += fmt.Sprintf(" and more, not shown: %d bytes in all, SHA-256 %s", len(value), Digest([]byte(value)))
		value = value[:maxShown]
	}
	b.quoted(label, "", value, words)
	b.warn(cut)
}

// warn sets Warn of the last line.
func (b *block) warn(careful bool) { b.lines[len(b.lines)-1].Warn = careful }

// quoted adds a line with a whole value in quotes, between our own words. Quotes in the value
// get a backslash, so that it ends at the first quote without one.
func (b *block) quoted(label, before, value, behind string) {
	text := spelled(value)
	for i, part := range text.Segments {
		text.Width += strings.Count(part.Text, `"`)
		text.Segments[i].Text = strings.ReplaceAll(part.Text, `"`, `\"`)
	}
	b.between(label, before+`"`, text, `"`+behind)
}

// between adds a line with a text between our own words.
func (b *block) between(label, before string, text trust.Rendered, behind string) {
	line := trust.Rendered{Segments: []trust.Segment{{Text: before}}, Width: len(before) + text.Width + len(behind)}
	line.Segments = append(append(line.Segments, text.Segments...), trust.Segment{Text: behind})
	b.lines = append(b.lines, BlockLine{Label: label, Text: line})
}

// spelled returns a value on one line, with every character outside of ASCII escaped.
func spelled(value string) (line trust.Rendered) {
	for _, part := range trust.Escaped(trust.Untrusted(value), 0) {
		line.Segments = append(line.Segments, part.Segments...)
		line.Width += part.Width
	}
	return line
}

// lines describes the act. Began is the request with which its run began, nil if that is r.
func (r Request) lines(began *Request) []BlockLine {
	var b block
	if r.Act != "" {
		b.chosen(r)
	}
	switch r.Kind {
	case RequestCommand:
		b.command(r)
	case RequestWebhook:
		b.webhook(r.URL, r.Secret, r.Private)
	case RequestNote:
		b.value("note", r.Note, "")
	case RequestModel, RequestChoice:
		b.asksModel(r)
	case RequestAgent:
		b.agent(r)
	case RequestTool:
		b.call(r, began)
	case RequestPermit:
		b.permit(r, began)
	case RequestClient:
		b.clientRequest(r.Wish)
	}
	if r.Kind != RequestNote && r.Kind != RequestClient { // the others have an input and a time limit
		b.text(labelInput, fmt.Sprintf("%d bytes, SHA-256 %s, shown below", len(r.Input), Digest(r.Input)), false)
		b.text("limit", FormatDuration(r.Time), false)
	}
	return b.lines
}

func (b *block) command(r Request) {
	for i, arg := range r.Argv {
		switch {
		case i > 0:
			b.value(fmt.Sprintf("argument %d", i), arg, "")
		case r.Path != "" && r.Path != arg:
			b.value("program", arg, ", which leads to:")
			b.value("", r.Path, "")
		default:
			b.value("program", arg, "")
		}
	}
	if r.Program != "" {
		b.text("its bytes", "SHA-256 "+r.Program, false)
	}
	for _, i := range r.Interpreters {
		b.interpreter(i)
	}
	b.code(r.Code, r.Tree)
	b.place(r.Dir, r.Env, r.Confine, r.Boundary)
	if r.RepeatSafe {
		b.text("repeated", "when it is not known whether it ran", false)
	}
}

// place adds the directory, the environment and the confinement of a command.
func (b *block) place(dir string, env []string, c *Confine, boundary string) {
	if dir == "" {
		b.text("directory", "a new private one", false)
	} else {
		b.value("directory", dir, "")
	}
	b.text("variables", strings.Join(append([]string{"EVENTDECK_*"}, env...), " "), false)
	b.confine(c)
	if boundary != "" {
		b.text("boundary", boundary, c == nil)
	}
}

// code adds what is pinned besides the program.
func (b *block) code(dirs []string, tree string) {
	for _, dir := range dirs {
		b.value("code", dir, "")
	}
	if len(dirs) > 0 && tree != "" {
		b.text("its bytes", "SHA-256 "+tree+", with the names; run from a private copy", false)
	}
	b.text("pinned", Pinning(dirs), false)
}

// Pinning says what the hash of a command with this code covers.
func Pinning(code []string) string {
	if len(code) == 0 {
		return "program only: what it loads is not pinned"
	}
	return "program and code: what it loads from elsewhere is not pinned"
}

// interpreter adds what runs a script.
func (b *block) interpreter(i Interpreter) {
	if i.Path == i.Name {
		b.value("run by", i.Name, "")
	} else {
		b.value("run by", i.Name, ", which leads to:")
		b.value("", i.Path, "")
	}
	for _, arg := range i.Args {
		b.value("with", arg, "")
	}
	b.text("its bytes", "SHA-256 "+i.Program, false)
}

func (b *block) webhook(url, secret string, private bool) {
	b.value("send to", url, "")
	b.value("signed by", secret, " of the environment")
	if private {
		b.text("network", "private addresses are allowed", true)
	} else {
		b.text("network", "public addresses only, no redirects", false)
	}
}

// confine adds what a command may reach; for nil nothing, as its boundary says it.
func (b *block) confine(c *Confine) {
	if c == nil {
		return
	}
	for _, path := range c.Read {
		b.value("may read", path, "")
	}
	for _, path := range c.Write {
		b.value("may write", path, "")
	}
	if c.Net {
		b.text("network", "open", true)
	} else {
		b.text("network", "closed", false)
	}
}

// marked sets Warn on the lines that the last request does not have.
func marked(lines []BlockLine, r Request, last *Request) []BlockLine {
	if last == nil || r.Kind == RequestClient || !r.comparable(last) || last.ActHash() == r.ActHash() {
		return lines
	}
	before := plainLines(last.lines(nil))
	for i, line := range lines {
		if line.Label != labelInput && !before[plainLine(line)] {
			lines[i].Warn = true
		}
	}
	return lines
}

// compared adds how the act differs from the one that was approved last.
func (b *block) compared(act []BlockLine, r Request, last *Request) {
	switch {
	case last == nil:
		b.text("before", "nothing of this rule was approved yet", false)
	case last.ActHash() == r.ActHash() && len(r.Input) == 0 && len(last.Input) == 0:
		b.text("before", "the same act was approved", false)
	case last.ActHash() == r.ActHash():
		b.text("before", "the same act was approved, with another input", false)
	case !r.comparable(last):
		b.text("before", "what was approved last was of another kind", false)
	default:
		b.text("before", "another act was approved; then it was:", true)
		now := plainLines(act)
		for _, line := range last.lines(nil) {
			if line.Label != labelInput && !now[plainLine(line)] {
				line.Label, line.Warn = "was "+line.Label, true
				b.lines = append(b.lines, line)
			}
		}
	}
}

// comparable reports whether comparing two requests helps the operator: a tool call has nothing
// in common with the run it is a step of, or with a call of another tool.
func (r Request) comparable(last *Request) bool {
	return r.Kind == last.Kind && r.Server == last.Server && r.Tool == last.Tool
}

func plainLine(l BlockLine) string { return l.Label + "\n" + l.Text.Plain() }

func plainLines(lines []BlockLine) map[string]bool {
	all := make(map[string]bool, len(lines))
	for _, l := range lines {
		all[plainLine(l)] = true
	}
	return all
}
