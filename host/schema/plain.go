package schema

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// failing returns in plain words which rule of a schema a value breaks, since the validator
// quotes the value and speaks of keywords and code points. It is "" for rules that only the
// validator knows.
func failing(s *jsonschema.Schema, value any) string {
	switch value := value.(type) {
	case float64:
		return failingNumber(s, value)
	case string:
		return failingText(s, value)
	case []any:
		switch {
		case s.MinItems != nil && len(value) < *s.MinItems:
			return fmt.Sprintf("has %d, must have at least %s", len(value), event.Some(*s.MinItems, "item", "items"))
		case s.MaxItems != nil && len(value) > *s.MaxItems:
			return fmt.Sprintf("has %d, may have at most %s", len(value), event.Some(*s.MaxItems, "item", "items"))
		}
	}
	return ""
}

func failingNumber(s *jsonschema.Schema, n float64) string {
	switch {
	case s.Type == "integer" && n != math.Trunc(n):
		return "is no whole number"
	case s.Minimum != nil && n < *s.Minimum:
		return "must be at least " + short(*s.Minimum)
	case s.Maximum != nil && n > *s.Maximum:
		return "must be at most " + short(*s.Maximum)
	case s.ExclusiveMinimum != nil && n <= *s.ExclusiveMinimum:
		return "must be more than " + short(*s.ExclusiveMinimum)
	case s.ExclusiveMaximum != nil && n >= *s.ExclusiveMaximum:
		return "must be less than " + short(*s.ExclusiveMaximum)
	}
	return ""
}

func failingText(s *jsonschema.Schema, text string) string {
	n := utf8.RuneCountInString(text)
	switch {
	case s.MinLength != nil && n < *s.MinLength:
		return fmt.Sprintf("has %d, must have at least %s", n, event.Some(*s.MinLength, "character", "characters"))
	case s.MaxLength != nil && n > *s.MaxLength:
		return fmt.Sprintf("has %d, may have at most %s", n, event.Some(*s.MaxLength, "character", "characters"))
	case s.Pattern != "":
		if re, err := regexp.Compile(s.Pattern); err == nil && !re.MatchString(text) {
			return "does not match " + trust.Line(trust.Untrusted(s.Pattern)).Plain()
		}
	}
	return ""
}

func short(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
