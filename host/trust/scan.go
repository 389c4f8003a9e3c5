package trust

// Span is a place in a payload at which something was seen.
type Span struct {
	Path   Text   `json:"path"`   // JSON pointer of the string
	Flag   Flag   `json:"flag"`   // what was seen
	Reason string `json:"reason"` // the same in words; ours, never from the payload
	Start  int    `json:"start"`  // byte offsets in the decoded string;
	End    int    `json:"end"`    // equal when the place is a key or the whole value

	at int // offset of the string in the payload
}

// Flag names something that was seen, as in "uni.bidi".
type Flag string

// Report is what [Scan] saw in a payload.
type Report struct {
	Flags   []Flag // sorted, each once
	Badge   bool   // the event as a whole speaks to an AI
	Spans   []Span // in the order of the text
	Decoded []Text // text that was hidden, in clear
}

// Scan looks for what an operator should know about a payload.
func Scan(raw []byte) Report { return Report{} }
