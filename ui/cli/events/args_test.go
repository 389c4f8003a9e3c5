package events

import (
	"errors"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/trust/strict"
	"eventdeck/ui/cli/plain"
)

const argsSchema = `{"type": "object", "properties": {
	"s": {"type": "string"},
	"n": {"type": "number"},
	"i": {"type": "integer"},
	"b": {"type": "boolean"},
	"e": {"enum": ["low", "high", 3, true, null]},
	"se": {"type": "string", "enum": ["1", "2"]},
	"k": {"const": 7},
	"l": {"type": "array", "items": {"type": "integer"}},
	"le": {"type": "array", "items": {"enum": ["a", "b"]}},
	"o": {"type": "object"},
	"sn": {"type": ["string", "number"]},
	"nn": {"type": ["integer", "null"]},
	"any": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
	"one": {"oneOf": [{"const": "x"}, {"const": "y"}]},
	"odd": {"type": 5}
}}`

func TestArgumentsAreTypedByTheSchema(t *testing.T) {
	tests := map[string]struct {
		args []string
		json string
		want string
	}{
		"none":             {nil, "", `{}`},
		"string":           {[]string{"s=5"}, "", `{"s":"5"}`},
		"empty":            {[]string{"s="}, "", `{"s":""}`},
		"equals sign":      {[]string{"s=a=b"}, "", `{"s":"a=b"}`},
		"unknown":          {[]string{"zz=true"}, "", `{"zz":"true"}`},
		"spelling of it":   {[]string{"n=1.50e3"}, "", `{"n":1.50e3}`},
		"integer":          {[]string{"i=-12345678901234567890"}, "", `{"i":-12345678901234567890}`},
		"boolean":          {[]string{"b=false"}, "", `{"b":false}`},
		"enum string":      {[]string{"e=high"}, "", `{"e":"high"}`},
		"enum number":      {[]string{"e=3"}, "", `{"e":3}`},
		"enum boolean":     {[]string{"e=true"}, "", `{"e":true}`},
		"enum null":        {[]string{"e=null"}, "", `{"e":null}`},
		"digits as string": {[]string{"se=2"}, "", `{"se":"2"}`},
		"const":            {[]string{"k=7"}, "", `{"k":7}`},
		"list of one":      {[]string{"l=1"}, "", `{"l":[1]}`},
		"list repeated":    {[]string{"l=1", "s=x", "l=2"}, "", `{"l":[1,2],"s":"x"}`},
		"list as JSON":     {[]string{"l=[1, 2]"}, "", `{"l":[1, 2]}`},
		"list of enum":     {[]string{"le=b", "le=a"}, "", `{"le":["b","a"]}`},
		"object":           {[]string{`o={"x": 1}`}, "", `{"o":{"x": 1}}`},
		"number first":     {[]string{"sn=5"}, "", `{"sn":5}`},
		"else string":      {[]string{"sn=5x"}, "", `{"sn":"5x"}`},
		"null":             {[]string{"nn=null"}, "", `{"nn":null}`},
		"any":              {[]string{"any=true"}, "", `{"any":true}`},
		"one":              {[]string{"one=y"}, "", `{"one":"y"}`},
		"odd":              {[]string{"odd=x"}, "", `{"odd":"x"}`},
		"joined":           {[]string{"i=1"}, `{"zz": [ 1 ], "a": "<"}`, `{"a":"<","i":1,"zz":[ 1 ]}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := argsFrom(t, tt.args, tt.json)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestInvalidArguments(t *testing.T) {
	tests := map[string]struct {
		args  []string
		json  string
		want  string
		usage bool
	}{
		"no number":   {[]string{"n=abc"}, "", `"n" must be a number, not "abc"`, false},
		"no literal":  {[]string{"n=1x"}, "", "must be a number", false},
		"no integer":  {[]string{"i=true"}, "", "must be an integer", false},
		"no boolean":  {[]string{"b=1"}, "", "must be a boolean", false},
		"enum":        {[]string{"e=mid"}, "", `"e" must be one of low, high, 3, true, null, not "mid"`, false},
		"in a list":   {[]string{"l=1", "l=x"}, "", `"l" must be an integer`, false},
		"no list":     {[]string{"s=1", "s=2"}, "", `"s" is given 2 times`, false},
		"no object":   {[]string{"o=[]"}, "", "must be an object", false},
		"two types":   {[]string{"nn=x"}, "", "must be an integer or a null", false},
		"given twice": {[]string{"s=1"}, `{"s": "2"}`, `"s" is given by --args and by --arg`, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := argsFrom(t, tt.args, tt.json)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if tt.usage != isMistake(err) || tt.usage == errors.Is(err, host.ErrArguments) {
				t.Errorf("wrong kind of error: %v", err)
			}
		})
	}
	for _, bad := range []string{"novalue", "=x", "", "s=\xff", "\xff=s"} {
		if _, err := splitArgs([]string{bad}); !isMistake(err) {
			t.Errorf("--arg %q: %v", bad, err)
		}
	}
	for _, bad := range []string{"[]", "{", `{"a":1,"a":2}`, "{} x", `{"a":"\ud800"}`, "{\"\xff\":1}"} {
		if _, err := parseArgsJSON(bad); !isMistake(err) {
			t.Errorf("--args %q: %v", bad, err)
		}
	}
}

// FuzzArgs checks that every value becomes valid JSON or an error.
func FuzzArgs(f *testing.F) {
	for _, seed := range []string{"s=1", "l=[1]", "o={}", "e=\x00\xff", "n=-", "sn=\u202e"} {
		f.Add(seed, argsSchema)
	}
	f.Fuzz(func(t *testing.T, arg, schema string) {
		args, err := splitArgs([]string{arg})
		if err != nil {
			return
		}
		object, err := buildArgs(nil, args, []byte(schema))
		if err != nil {
			return
		}
		if _, err := strict.ParseObject(object, strict.Limits{}); err != nil {
			t.Fatalf("%q: %q: %v", arg, object, err)
		}
	})
}

// argsFrom builds arguments from the values of --arg and the text of --args, which must be
// readable.
func argsFrom(t *testing.T, given []string, text string) ([]byte, error) {
	t.Helper()
	args, err := splitArgs(given)
	if err != nil {
		t.Fatal(err)
	}
	members, err := parseArgsJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return buildArgs(members, args, []byte(argsSchema))
}

// isMistake reports whether err is a mistake in the command line.
func isMistake(err error) bool {
	var mistake plain.UsageError
	return errors.As(err, &mistake)
}
