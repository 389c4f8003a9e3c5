package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"eventdeck/host/trust"
)

// Name is the meaning of an error, whatever its code in a profile. The host branches on
// names, never on codes (SEP-3415, error codes; field notes 4).
type Name string

// The error names of MCP Events and of the protocol below it.
const (
	NotFound              Name = "NotFound"
	Forbidden             Name = "Forbidden"
	ResourceExhausted     Name = "ResourceExhausted"
	Unsupported           Name = "Unsupported"
	CallbackEndpointError Name = "CallbackEndpointError"
	ParseError            Name = "ParseError"
	InvalidRequest        Name = "InvalidRequest"
	MethodNotFound        Name = "MethodNotFound"
	InvalidParams         Name = "InvalidParams"
	InternalError         Name = "InternalError"
	UnsupportedVersion    Name = "UnsupportedProtocolVersion"
	MissingCapability     Name = "MissingClientCapability"
	HeaderMismatch        Name = "HeaderMismatch" // a header is missing or contradicts the body (2026-07-28)
	CursorExpired         Name = "CursorExpired"  // of early sketches: the position is not kept any more
	UnknownError          Name = "Unknown"
)

// Error codes that the demo servers and tests send.
const (
	CodeParse              = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternal           = -32603
	CodeUnsupportedVersion = -32022
	CodeMissingCapability  = -32021
	CodeHeaderMismatch     = -32020
)

// Profile is one of the two families of error codes and shapes of MCP Events.
type Profile string

// The profiles.
const (
	ProfileNone   Profile = ""
	ProfileSEP    Profile = "SEP-3415"
	ProfileSketch Profile = "sketch"
)

// codes returns the names of MCP Events in the order of their codes in a profile, which count down
// from first. The last two are of early sketches: no such subscription, no such delivery mode.
func (p Profile) codes() (first int, names []Name) {
	names = []Name{NotFound, Forbidden, ResourceExhausted, Unsupported, CallbackEndpointError}
	if p == ProfileSketch {
		return -32011, append(names, NotFound, Unsupported)
	}
	return -32023, names
}

// Code returns the code of a name of MCP Events in a profile, or [CodeInternal] for another
// name.
func (p Profile) Code(n Name) int {
	first, names := p.codes()
	if i := slices.Index(names, n); i >= 0 {
		return first - i
	}
	return CodeInternal
}

// NameOf returns the name of a code of either family.
func NameOf(code int) Name {
	for _, p := range [...]Profile{ProfileSEP, ProfileSketch} {
		first, names := p.codes()
		if i := first - code; i >= 0 && i < len(names) {
			return names[i]
		}
	}
	switch code {
	case CodeParse:
		return ParseError
	case CodeInvalidRequest:
		return InvalidRequest
	case CodeMethodNotFound:
		return MethodNotFound
	case CodeInvalidParams:
		return InvalidParams
	case CodeInternal:
		return InternalError
	case CodeUnsupportedVersion:
		return UnsupportedVersion
	case CodeMissingCapability:
		return MissingCapability
	case CodeHeaderMismatch:
		return HeaderMismatch
	}
	return UnknownError
}

// named returns the name that a message consists of, also in the words of early sketches, or "".
func named(message string) Name {
	switch message {
	case "EventNotFound", "SubscriptionNotFound":
		return NotFound
	case "Unauthorized":
		return Forbidden
	case "TooManySubscriptions":
		return ResourceExhausted
	case "DeliveryModeUnsupported":
		return Unsupported
	case "EndpointVerificationFailed":
		return CallbackEndpointError
	case "InvalidCallbackUrl":
		return InvalidParams
	}
	switch n := Name(message); n {
	case NotFound, Forbidden, ResourceExhausted, Unsupported, CallbackEndpointError, CursorExpired, HeaderMismatch:
		return n
	}
	return ""
}

// Error is the error of a server's response.
type Error struct {
	Code    int
	Message trust.Text
	Data    json.RawMessage // as sent; nil if absent
}

// Error returns the name, the code and the escaped message.
func (e *Error) Error() string {
	if e.Code == 0 && e.Message.IsZero() && len(e.Data) == 0 {
		return "the server gave no reason"
	}
	text := "server answered"
	if e.Code != 0 {
		text += fmt.Sprintf(" %s (%d)", e.Name(), e.Code)
	}
	if !e.Message.IsZero() {
		text += fmt.Sprintf(": %v", Clip(e.Message))
	}
	for _, member := range [...]string{"reason", "field", "limit", "feature"} {
		if detail := e.Detail(member); !detail.IsZero() {
			text += fmt.Sprintf(" (%s %v)", member, Clip(detail))
		}
	}
	return text
}

// errorText matches the text of [Error.Error] up to the server's message.
var errorText = regexp.MustCompile(`server answered ([A-Za-z]+) \(-?[0-9]+\)`)

// reasonText matches the reason in it.
var reasonText = regexp.MustCompile(`\(reason ([a-z0-9_]+)\)`)

// FromText returns the name and the reason of an [Error] that was stored as text; both are
// empty for another text.
func FromText(text string) (n Name, reason string) {
	name := errorText.FindStringSubmatch(text)
	if name == nil {
		return "", ""
	}
	if r := reasonText.FindStringSubmatch(text); r != nil {
		reason = r[1]
	}
	return Name(name[1]), reason
}

// Clip returns the beginning of a server's text, for an error, which is stored and shown in
// one line.
func Clip(t trust.Text) trust.Text {
	const most = 1000
	s := t.Raw()
	if len(s) <= most {
		return t
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return trust.Untrusted(s[:end] + "…")
}

// Name returns what the error means. The codes of MCP Events changed from draft to draft, so a
// message that is a name and nothing else, as the proposals write it, decides before the code.
// Codes of JSON-RPC itself are settled and decide alone.
func (e *Error) Name() Name {
	if n := named(e.Message.Raw()); n != "" && e.Code > CodeInvalidRequest {
		return n
	}
	return NameOf(e.Code)
}

// Detail returns a string member of the error's data: kind, reason, field,
// limit, feature. It is empty if there is none.
func (e *Error) Detail(member string) trust.Text {
	var data map[string]json.RawMessage
	if json.Unmarshal(e.Data, &data) != nil {
		return trust.Text{}
	}
	var s trust.Text
	if json.Unmarshal(data[member], &s) != nil {
		return trust.Text{}
	}
	return s
}

// RetryAfter returns how long the server asks to wait, by the member retryAfterMs of the error's
// data; 0 if it does not say.
func (e *Error) RetryAfter() time.Duration {
	data, err := decodeMembers("the data of an error", e.Data)
	if err != nil {
		return 0
	}
	wait, _ := data.duration("retryAfterMs", time.Millisecond)
	return max(wait, 0)
}

// ErrDenied: the transport refused for lack of authorization, e.g. with HTTP 401 or 403.
// Its name is [Forbidden].
var ErrDenied = errors.New("refused for lack of rights")

// ErrTooLarge: a message is larger than the host accepts.
var ErrTooLarge = errors.New("too large")

// ErrUnacceptable: the request cannot be fulfilled, for a reason other than an error of the
// protocol. A retry would change nothing.
var ErrUnacceptable = errors.New("it cannot be had")

// NameFrom returns the name of the [Error] in err's chain, or "" if there is none.
func NameFrom(err error) Name {
	if errors.Is(err, ErrDenied) {
		return Forbidden
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Name()
	}
	return ""
}

// Is reports whether err is a server's error of that name, and, where member is not empty,
// whether that member of the error's data is the string value.
func Is(err error, name Name, member, value string) bool {
	var e *Error
	if !errors.As(err, &e) || e.Name() != name {
		return false
	}
	return member == "" || e.Detail(member).Raw() == value
}
