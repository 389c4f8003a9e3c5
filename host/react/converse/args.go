package converse

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"eventdeck/host/react"
	"eventdeck/host/react/toolset"
	"eventdeck/host/schema"
	"eventdeck/host/trust/strict"
)

// check refuses arguments of a model that do not keep to the schema of the tool as the run has
// it, or that set what the operator fixed or dropped.
func check(tool react.Pinned, given json.RawMessage) error {
	if len(given) == 0 {
		given = json.RawMessage(`{}`)
	}
	members, err := strict.ParseObject(given, strict.Limits{Bytes: toolset.MaxArguments})
	if err != nil {
		return errors.New("its arguments are no JSON object that can be taken")
	}
	for _, m := range members {
		name := m.Key.Raw()
		if _, fixed := tool.Fix[name]; fixed || slices.Contains(tool.Drop, name) {
			return fmt.Errorf("the operator does not let %q be set", name)
		}
	}
	return schema.CheckStrictly(tool.Name, tool.Schema, given)
}
