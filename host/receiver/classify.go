package receiver

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// typeVerification is answered by the receiver and never reaches a [Sink].
const typeVerification Type = "verification"

// content is the result of parsing a body.
type content struct {
	kind      Type
	control   trust.Text
	challenge trust.Text // of typeVerification
	refused   error      // of TypeMalformed
}

// classify reads a verified body. A top-level "type" that is null counts as
// absent; one that is not a string is malformed, like a verification without a
// challenge of 1 to 1024 characters. A foreign body is an event whatever it says.
func classify(body []byte, foreign bool) content {
	members, err := strict.ParseObject(body, strict.Limits{Bytes: MaxBody})
	if err != nil {
		return content{kind: TypeMalformed, refused: err}
	}
	if foreign {
		return content{kind: TypeEvent}
	}
	control, found, err := stringMember(members, "type")
	if err != nil {
		return content{kind: TypeMalformed, refused: err}
	}
	if !found {
		return content{kind: TypeEvent}
	}
	switch kind := Type(control.Raw()); kind {
	case TypeGap, TypeTerminated:
		return content{kind: kind}
	case typeVerification:
		challenge, _, err := stringMember(members, "challenge")
		if err != nil {
			return content{kind: TypeMalformed, refused: err}
		}
		if n := utf8.RuneCountInString(challenge.Raw()); n == 0 || n > maxChallenge {
			return content{kind: TypeMalformed, refused: fmt.Errorf("%w: challenge of %d characters, must be 1 to %d", strict.ErrRefused, n, maxChallenge)}
		}
		return content{kind: typeVerification, challenge: challenge}
	}
	return content{kind: TypeControl, control: control}
}

// stringMember finds a member that must be a string. A null counts as absent.
func stringMember(members []strict.Member, name string) (text trust.Text, found bool, err error) {
	for _, m := range members {
		if m.Key.Raw() != name || string(m.Value) == "null" {
			continue
		}
		if err := json.Unmarshal(m.Value, &text); err != nil {
			return trust.Text{}, false, fmt.Errorf("%w: %s is not a string", strict.ErrRefused, name)
		}
		return text, true, nil
	}
	return trust.Text{}, false, nil
}
