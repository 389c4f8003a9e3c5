package converse

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	kept := slices.AppendSeq(slices.Clone(tool.Drop), maps.Keys(tool.Fix))
	for _, m := range members {
		if at := slices.Index(kept, m.Key.Raw()); at >= 0 {
			return fmt.Errorf("the operator does not let %q be set", kept[at])
		}
	}
	return schema.CheckStrictly(tool.Name, tool.Schema, given)
}
