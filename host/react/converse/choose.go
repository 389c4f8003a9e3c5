package converse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// maxChosen bounds an answer that chooses, and maxPattern a value that a pattern allows, in
// bytes.
const (
	maxChosen  = 64 << 10
	maxPattern = 200
)

// choices returns the acts of a rule with their programs as they are now.
func (r *Runner) choices(rule string, acts []react.Act) ([]react.Act, error) {
	out := slices.Clone(acts)
	for i, a := range out {
		req, err := r.act(react.Request{Rule: rule}, a)
		if err != nil {
			return nil, fmt.Errorf("act %s: %w", a.Name, err)
		}
		out[i].Files = req.Files
	}
	return out, nil
}

// act returns the request of an act, without its input.
func (r *Runner) act(first react.Request, a react.Act) (react.Request, error) {
	run := react.Run{ID: first.Run, Created: time.Unix(0, 0), Members: react.Members{Count: first.Count}}
	if first.Seq != 0 {
		run.Members.First = []uint64{first.Seq}
	}
	var limits react.Limits
	if a.Do.Command != nil {
		limits.Time = first.Time
	}
	req, err := r.o.Acts.Prepare(react.Rule{Name: first.Rule, Do: a.Do, Limits: limits}, run, nil)
	req.Act, req.Input = a.Name, nil
	if a.Do.Webhook != nil && first.Time > 0 { // otherwise the shorter default of webhooks applies
		req.Time = min(req.Time, first.Time)
	}
	return req, err
}

// chosen returns the request of the act that an answer chooses.
func (l *loop) chosen(answer *react.Answer) *react.Result {
	next, err := l.choice(answer)
	if err != nil {
		return l.said(answer, react.OutcomeFailed, "the model chose no act: "+err.Error())
	}
	return &react.Result{Outcome: react.OutcomeAsks, Next: &next, Answer: answer.Text, Why: "the model chose " + next.Act}
}

func (l *loop) choice(answer *react.Answer) (react.Request, error) {
	if len(answer.Calls) > 0 {
		return react.Request{}, errors.New("it called a tool")
	}
	name, given, err := readChoice(answer.Text)
	if err != nil {
		return react.Request{}, err
	}
	i := slices.IndexFunc(l.first.Choices, func(a react.Act) bool { return a.Name == name })
	if i < 0 {
		return react.Request{}, errors.New("it named an act that is not there")
	}
	a := l.first.Choices[i]
	args, err := checkArgs(a, given)
	if err != nil {
		return react.Request{}, err
	}
	next, err := l.act(l.first, a)
	if err != nil {
		return react.Request{}, err
	}
	if !next.Files.Equal(a.Files) {
		return react.Request{}, fmt.Errorf("%w: the program of %s is another one now", react.ErrProgram, a.Name)
	}
	next.Input = inputOf(l.first, a.Name, args)
	return next, nil
}

// readChoice parses an answer strictly: one object with the name and the arguments.
func readChoice(text trust.Text) (name string, args []strict.Member, err error) {
	members, err := strict.ParseObject([]byte(strings.TrimSpace(text.Raw())), strict.Limits{Bytes: maxChosen})
	if err != nil {
		return "", nil, errors.New("its answer is not exactly one JSON object")
	}
	if len(members) != 2 || members[0].Key.Raw() == members[1].Key.Raw() {
		return "", nil, errors.New(`its answer has other members than "act" and "args"`)
	}
	for _, m := range members {
		switch m.Key.Raw() {
		case "act":
			chosen, ok := m.Text()
			if !ok || chosen.IsZero() {
				return "", nil, errors.New("it names no act")
			}
			name = chosen.Raw()
		case "args":
			if args, err = strict.ParseObject(m.Value, strict.Limits{}); err != nil {
				return "", nil, errors.New("its arguments are no object")
			}
		default:
			return "", nil, errors.New(`its answer has other members than "act" and "args"`)
		}
	}
	return name, args, nil
}

// checkArgs returns the values of all arguments of an act, in its order. Only values of a pattern
// are passed on as the model wrote them.
func checkArgs(a react.Act, given []strict.Member) ([]json.RawMessage, error) {
	if len(given) != len(a.Args) {
		return nil, fmt.Errorf("%s has %d arguments, and %d are given", a.Name, len(a.Args), len(given))
	}
	values := make([]json.RawMessage, len(a.Args))
	for i, arg := range a.Args {
		at := slices.IndexFunc(given, func(m strict.Member) bool { return m.Key.Raw() == arg.Name })
		if at < 0 {
			return nil, fmt.Errorf("the argument %q is missing", arg.Name)
		}
		value, ok := allowed(arg, given[at])
		if !ok {
			return nil, fmt.Errorf("the argument %q has a value that is not allowed", arg.Name)
		}
		values[i] = value
	}
	return values, nil
}

func allowed(arg react.Arg, m strict.Member) (json.RawMessage, bool) {
	text, isText := m.Text()
	isText = isText && string(m.Value) != "null"
	switch {
	case len(arg.Enum) > 0:
		return trust.AppendJSONString(nil, text.Raw()), isText && slices.Contains(arg.Enum, text.Raw())
	case arg.Number != nil:
		if c := m.Value[0]; c != '-' && (c < '0' || c > '9') {
			return nil, false
		}
		n, err := strconv.ParseFloat(string(m.Value), 64)
		ok := err == nil && !math.IsNaN(n) && n >= arg.Number.Min && n <= arg.Number.Max
		return encodeNumber(n), ok
	case arg.Bool:
		value := bytes.Clone(m.Value)
		return value, string(value) == "true" || string(value) == "false"
	case arg.Pattern != "":
		whole, err := regexp.Compile(`\A(?:` + arg.Pattern + `)\z`)
		return trust.AppendJSONString(nil, text.Raw()), err == nil && isText && text.Len() <= maxPattern && whole.MatchString(text.Raw())
	}
	return nil, false
}

func encodeNumber(n float64) json.RawMessage {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return encode(n)
}

// inputOf returns the input of the chosen act.
func inputOf(first react.Request, act string, values []json.RawMessage) []byte {
	i := slices.IndexFunc(first.Choices, func(a react.Act) bool { return a.Name == act })
	b := trust.AppendJSONString([]byte(`{"run":`), string(first.Run))
	b = trust.AppendJSONString(append(b, `,"rule":`...), first.Rule)
	b = strconv.AppendUint(append(b, `,"seq":`...), first.Seq, 10)
	b = strconv.AppendUint(append(b, `,"count":`...), first.Count, 10)
	b = trust.AppendJSONString(append(b, `,"act":`...), act)
	b = append(b, `,"args":{`...)
	for j, arg := range first.Choices[i].Args {
		if j > 0 {
			b = append(b, ',')
		}
		b = append(trust.AppendJSONString(b, arg.Name), ':')
		b = append(b, values[j]...)
	}
	return append(b, "}}\n"...)
}

// describeAct describes an act to a model, in the operator's words.
func describeAct(a react.Act) string {
	var args []string
	for _, arg := range a.Args {
		name := strconv.Quote(arg.Name)
		switch {
		case len(arg.Enum) > 0:
			args = append(args, fmt.Sprintf("%s: one of %s", name, encode(arg.Enum)))
		case arg.Number != nil:
			args = append(args, fmt.Sprintf("%s: a number from %v to %v", name, arg.Number.Min, arg.Number.Max))
		case arg.Bool:
			args = append(args, name+": true or false")
		default:
			args = append(args, fmt.Sprintf("%s: a text that matches %s", name, arg.Pattern))
		}
	}
	if len(args) == 0 {
		args = []string{"no arguments"}
	}
	return fmt.Sprintf("Act %q with %s.", a.Name, strings.Join(args, "; "))
}
