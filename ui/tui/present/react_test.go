package present_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/present"
)

const personal = "ann@example.com"

// fill sets every text of a value to the personal address, at any depth.
func fill(v reflect.Value, depth int) {
	switch {
	case depth == 0: // acts hold acts
		return
	case v.Type() == reflect.TypeFor[trust.Text]():
		v.Set(reflect.ValueOf(trust.Untrusted(personal)))
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`"` + personal + `"`))
	case v.Kind() == reflect.String:
		v.SetString(personal)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), depth-1)
			}
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth-1)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes([]byte(personal))
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth-1)
	case v.Kind() == reflect.Map && v.Type().Elem() == reflect.TypeFor[json.RawMessage]():
		v.Set(reflect.ValueOf(map[string]json.RawMessage{"mail": json.RawMessage(`"` + personal + `"`)}))
	}
}

// collect adds the paths of the texts that have the personal address.
func collect(v reflect.Value, path string, out map[string]bool) {
	text := ""
	switch {
	case v.Type() == reflect.TypeFor[trust.Text]():
		text = v.Interface().(trust.Text).Raw()
	case v.Kind() == reflect.String:
		text = v.String()
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		text = string(v.Bytes())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			collect(v.Field(i), path+"."+v.Type().Field(i).Name, out)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		collect(v.Elem(), path, out)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			collect(v.Index(i), path, out)
		}
	case v.Kind() == reflect.Map:
		for it := v.MapRange(); it.Next(); {
			collect(it.Value(), path, out)
		}
	}
	if strings.Contains(text, personal) {
		out[path] = true
	}
}

// oneRun is an engine with a fixed view.
type oneRun struct {
	react.Control
	view react.View
}

func (o *oneRun) Reactions() react.View { return o.view }

func TestPersonalValuesOfReactionsAreMasked(t *testing.T) {
	var request, next react.Request
	var rule react.Rule
	fill(reflect.ValueOf(&request).Elem(), 12)
	fill(reflect.ValueOf(&next).Elem(), 12)
	fill(reflect.ValueOf(&rule).Elem(), 12)
	run := react.Run{Request: &request, Began: &next, Result: &react.Result{Next: &next, Answer: trust.Untrusted(personal)}}
	o := &oneRun{view: react.View{Waiting: []react.Run{run}, Rules: []react.RuleView{{Rule: rule, Approved: &request}}}}
	shown := map[string]bool{}
	v := present.MaskReactions(o).Reactions()
	collect(reflect.ValueOf(v), "", shown)
	// Names, words of the file's grammar, hashes and places stay.
	stay := []string{"Name", "Server", "Origin", "Tool", "Class", "Env", "Stdin", "Fields", "From", "To", "Drop", "Mode", "Program", "Tree", "Pin", "Wire", "Where", "Secret", "Key",
		"Kind", "Rule", "Run", "Act", "Type", "Types", "By", "Ends", "Asked", "Sub"}
	for path := range shown {
		if !slices.Contains(stay, path[strings.LastIndexByte(path, '.')+1:]) {
			t.Errorf("%s is shown", path)
		}
	}
}
