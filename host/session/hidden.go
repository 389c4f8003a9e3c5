package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// leastHidden is how many bytes a value has at least that is looked for in every
// text. A shorter one would be found where it is not meant; it is masked where it is
// the value of the member that held it.
const leastHidden = 6

// leastPart is how many bytes of a value's beginning are masked at the end of a text
// that is cut there.
const leastPart = 4

// hiddenShown stands for what is hidden.
const hiddenShown = "***"

// Argument is a scalar within the arguments of a subscription.
type Argument struct {
	Name  string       // of the nearest member that holds it
	Value event.Secret // a string's text; of another scalar its JSON
}

// Hidden are arguments that must not be shown though nothing about them looks like a
// secret: their schema says so. Its methods may be called from any goroutine, also on
// nil, which hides nothing. What was added stays hidden.
type Hidden struct {
	mu  sync.Mutex // of who adds
	set atomic.Pointer[hiddenSet]
}

// hiddenSet is never changed.
type hiddenSet struct {
	values []event.Secret            // that are looked for in every text, the longest first
	places map[string][]event.Secret // the shorter ones, by the name of their member
}

// Add hides further arguments. Empty ones have nothing to hide.
func (h *Hidden) Add(args ...Argument) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := hiddenSet{places: map[string][]event.Secret{}}
	if old := h.set.Load(); old != nil {
		next.values = slices.Clone(old.values)
		for name, short := range old.places {
			next.places[name] = slices.Clone(short)
		}
	}
	known := len(next.values) + len(next.places)
	for _, a := range args {
		switch short := next.places[a.Name]; {
		case a.Value.IsZero(), slices.Contains(next.values, a.Value), slices.Contains(short, a.Value):
			continue
		case len(a.Value.Reveal()) < leastHidden:
			next.places[a.Name] = append(short, a.Value)
		default:
			next.values = append(next.values, a.Value)
		}
		known++
	}
	if known == 0 {
		return
	}
	slices.SortStableFunc(next.values, func(x, y event.Secret) int { return len(y.Reveal()) - len(x.Reveal()) })
	h.set.Store(&next)
}

// Empty reports whether nothing is hidden.
func (h *Hidden) Empty() bool { return h.load() == nil }

// load returns what is hidden, nil if nothing is.
func (h *Hidden) load() *hiddenSet {
	if h == nil {
		return nil
	}
	return h.set.Load()
}

// Text returns a text, which may hold JSON, with what is hidden in it masked.
func (h *Hidden) Text(text trust.Text) trust.Text {
	if h.load() == nil {
		return text
	}
	return trust.Untrusted(h.String(text.Raw()))
}

// String is [Hidden.Text] for a text that is safe to print, such as an error's.
func (h *Hidden) String(text string) string {
	set := h.load()
	if set == nil {
		return text
	}
	body, clipped := strings.CutSuffix(text, "…")
	body = maskText(body, maskDepth, set, true)
	if clipped {
		body += "…"
	}
	return body
}

// JSON returns a JSON text with what is hidden in it masked; it is JSON still.
func (h *Hidden) JSON(raw json.RawMessage) json.RawMessage {
	set := h.load()
	if set == nil {
		return raw
	}
	masked := json.RawMessage(maskText(string(raw), maskDepth, set, false))
	if !json.Valid(masked) && json.Valid(raw) {
		return json.RawMessage(`{}`) // a value that spans members: nothing is told
	}
	return masked
}

// Error returns an error that is the same for [errors.Is] and [errors.As], and says
// the same without what is hidden. A *wire.Error that is asked of it is masked too.
func (h *Hidden) Error(err error) error {
	if err == nil || h.load() == nil {
		return err
	}
	was := err.Error()
	out := &hiddenError{text: was, err: err}
	var answer *wire.Error
	if errors.As(err, &answer) {
		masked := *answer
		masked.Message, masked.Data = h.Text(answer.Message), h.JSON(answer.Data)
		if masked.Message != answer.Message || !bytes.Equal(masked.Data, answer.Data) {
			out.answer = &masked
			out.text = strings.ReplaceAll(out.text, answer.Error(), masked.Error())
		}
	}
	out.text = h.String(out.text)
	if out.text == was && out.answer == nil {
		return err
	}
	return out
}

// hiddenError is an error of which not all may be shown.
type hiddenError struct {
	text   string
	err    error
	answer *wire.Error // that of err, masked; nil: it is as it was
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.err }

// As gives the masked answer in place of the one within.
func (e *hiddenError) As(target any) bool {
	answer, ok := target.(**wire.Error)
	if !ok || e.answer == nil {
		return false
	}
	*answer = e.answer
	return true
}

// suspects reports whether a look at every part of the text is worth its cost.
func (s *hiddenSet) suspects(text string, cut bool) bool {
	if s == nil {
		return false
	}
	if cut || strings.IndexByte(text, '\\') >= 0 || strings.IndexByte(text, '%') >= 0 {
		return true
	}
	for _, v := range s.values {
		if strings.Contains(text, v.Reveal()) || strings.Contains(v.Reveal(), " ") && strings.Contains(text, "+") {
			return true
		}
	}
	for name := range s.places {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// is reports whether a scalar is hidden as a whole: one that is cut, when it begins
// like one that is.
func (s *hiddenSet) is(member, text string, cut bool) bool {
	if s == nil || text == "" {
		return false
	}
	same := func(v event.Secret) bool {
		return v.Reveal() == text || cut && strings.HasPrefix(v.Reveal(), text)
	}
	return slices.ContainsFunc(s.places[member], same) ||
		slices.ContainsFunc(s.values, func(v event.Secret) bool { return v.Reveal() == text })
}

// replace masks the values in a text in which nothing is escaped, and, at the end of
// one that is cut there, the beginning of one.
func (s *hiddenSet) replace(text string, cut bool) string {
	if s == nil {
		return text
	}
	for _, v := range s.values {
		text = replaceValue(text, v.Reveal(), cut)
	}
	return text
}

func replaceValue(text, value string, cut bool) string {
	var out strings.Builder
	done := 0
	for at := 0; at < len(text); at++ {
		if c := text[at]; c != value[0] && c != '%' && c != '+' {
			continue
		}
		size, fits := spelled(text[at:], value)
		switch {
		case fits && partOfNumber(text, value, at, at+size):
			continue
		case !fits && !(cut && at+size == len(text) && size >= leastPart):
			continue
		}
		out.WriteString(text[done:at])
		out.WriteString(hiddenShown)
		done = at + size
		at = done - 1
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// spelled reports whether a text begins with a value, as it is or with characters
// encoded as in a URL, and how many bytes that takes; where it does not, how many fit
// before the text ends, 0 when it is the text that differs.
func spelled(text, value string) (size int, fits bool) {
	if strings.HasPrefix(text, value) {
		return len(value), true
	}
	for i := range len(value) {
		rest := text[size:]
		switch {
		case rest == "", rest[0] == '%' && len(rest) < 3:
			return len(text), false
		case rest[0] == '%' && hexed(rest[1:3], value[i]):
			size += 3
		case rest[0] == value[i], rest[0] == '+' && value[i] == ' ':
			size++
		default:
			return 0, false
		}
	}
	return size, true
}

// hexed reports whether two hexadecimal digits are a byte.
func hexed(digits string, c byte) bool {
	const upper, lower = "0123456789ABCDEF", "0123456789abcdef"
	is := func(d, half byte) bool { return d == upper[half] || d == lower[half] }
	return is(digits[0], c>>4) && is(digits[1], c&0xf)
}

// partOfNumber reports whether a value of digits stands within a longer number.
func partOfNumber(text, value string, from, to int) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for i := range len(value) {
		if !digit(value[i]) {
			return false
		}
	}
	return from > 0 && digit(text[from-1]) || to < len(text) && digit(text[to])
}
