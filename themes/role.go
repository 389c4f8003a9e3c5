package themes

// Role is a purpose on the screen.
type Role uint8

// The roles.
const (
	Plain     Role = iota // ordinary text
	Dim                   // what can wait: separators, ages, counts
	Faint                 // what was just said: the repeated part of times, cut marks
	Strong                // what is read first
	Brand                 // the program's own name
	Title                 // title of a pane
	TitleOn               // title of the pane that has the focus
	Rule                  // lines between panes
	RuleOn                // line of the pane that has the focus
	Backdrop              // the panes behind a dialog
	Cursor                // the selected row of the pane that has the focus
	CursorOff             // the selected row of another pane
	Good                  // live, confirmed
	Busy                  // on the way
	Warn                  // needs a look
	Bad                   // failed
	Gap                   // events are or may be missing
	Mark                  // stands for text that is not shown as it came
	Span                  // text in which something was noticed
	SpanMark              // a mark in such text
	SpanOn                // the place that is explained now
	Gutter                // the bar beside text from a server
	Server                // names of servers
	Type                  // names of event types
	Key                   // a key that can be pressed
	Field                 // an input
	FieldOn               // the input that has the focus
	Off                   // cannot be chosen
	Alarm                 // a whole line that wants attention
	Number                // a number in a payload
	Literal               // true, false and null in a payload
	Chart                 // curves and bars of counts
	Critical              // the word for the worst severity
	roles
)

// roleNames are the names of the roles in theme files.
var roleNames = [roles]string{
	"plain", "dim", "faint", "strong", "brand", "title", "title-on", "rule", "rule-on", "backdrop", "cursor", "cursor-off",
	"good", "busy", "warn", "bad", "gap", "mark", "span", "span-mark", "span-on", "gutter",
	"server", "type", "key", "field", "field-on", "off", "alarm", "number", "literal", "chart", "critical",
}

// String returns the role's name in theme files.
func (r Role) String() string {
	if r < roles {
		return roleNames[r]
	}
	return "unknown"
}

// telling are the roles that an operator must be able to tell from plain text
// in every theme: where the keys go, and what a server has tampered with.
var telling = [...]Role{Cursor, CursorOff, TitleOn, FieldOn, Alarm, Critical, Mark, Span, SpanMark, SpanOn}
