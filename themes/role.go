package themes

// Role is the purpose of a text or line on the screen.
type Role uint8

// The roles.
const (
	Plain     Role = iota // ordinary text
	Dim                   // less important text: separators, ages, counts
	Faint                 // repeated text: the common part of times, cut marks
	Strong                // the most important text
	Brand                 // the program's own name
	Title                 // title of a pane
	TitleOn               // title of the pane that has the focus
	Rule                  // lines between panes
	RuleOn                // line of the pane that has the focus
	Backdrop              // the panes behind a dialog
	Cursor                // the selected row of the pane that has the focus
	CursorOff             // the selected row of another pane
	Good                  // live, confirmed
	Busy                  // in progress
	Warn                  // needs attention
	Bad                   // failed
	Gap                   // events are or may be missing
	Mark                  // replaces text that is not shown as it came
	Span                  // text that the scanner flagged
	SpanMark              // a mark in flagged text
	SpanOn                // the flagged text that is explained now
	Gutter                // the bar beside text from a server
	Server                // names of servers
	Type                  // names of event types
	Key                   // a key that can be pressed
	Field                 // an input
	FieldOn               // the input that has the focus
	Off                   // cannot be chosen
	Alarm                 // a whole line that needs attention
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

// telling are the roles that must differ from plain text in every theme: they show where the focus
// is, and where text of a server was changed or flagged.
var telling = [...]Role{Cursor, CursorOff, TitleOn, FieldOn, Alarm, Critical, Mark, Span, SpanMark, SpanOn}
