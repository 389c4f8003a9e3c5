package react

import (
	"encoding/json"
	"time"

	"eventdeck/host/trust"
)

// Wire is a protocol that models speak over HTTP.
type Wire string

// The wires.
const (
	WireChat     Wire = "chat"     // Chat Completions, as OpenAI, Ollama, llama.cpp, vLLM and OpenRouter speak it
	WireMessages Wire = "messages" // Anthropic Messages
)

// Model is a language model that rules may ask, as rules.json defines it.
type Model struct {
	Name  string `json:"name"` // [a-z0-9-]{1,40}
	Wire  Wire   `json:"wire"`
	URL   string `json:"url"`   // without the path of the call; http only on this machine
	Model string `json:"model"` // as the provider names it
	// Key as it is in the file: ${NAME} of the environment, "keyring", or "" for none. It is
	// looked up when the model is asked.
	Key string `json:"key,omitempty"`
	// Price of tokens; nil: unknown, and no spend limit can be enforced.
	Price *Price `json:"price,omitempty"`
	// Output is the most tokens of one answer.
	Output int `json:"output"`
	// Where is file:line:column.
	Where string `json:"-"`
}

// MaxOutput is the largest value of [Model.Output], in tokens.
const MaxOutput = 64_000

// Price is the cost of a million input and output tokens, in micro-dollars. The zero value is
// free.
type Price struct {
	In  int64 `json:"in"`
	Out int64 `json:"out"`
}

// Usage counts the tokens of calls of models.
type Usage struct {
	In  int64 `json:"in,omitempty"`
	Out int64 `json:"out,omitempty"`
	// Estimated: the provider reported no credible numbers.
	Estimated bool `json:"estimated,omitempty"`
}

// ToolClass is the operator's classification of a tool. Hints of the server never relax it.
type ToolClass string

// The classes.
const (
	ToolRead  ToolClass = "read"  // changes nothing
	ToolWrite ToolClass = "write" // may change something: each call is asked about
)

// Tool is a tool of a server that a model or an agent may call in runs of a rule. Tools that
// the rule does not name do not exist for it.
type Tool struct {
	Server string    `json:"server"`
	Name   string    `json:"name"`
	Class  ToolClass `json:"class"`
	// Fix has values of parameters that the model neither sees nor sets; Drop names parameters
	// that are removed. Both are names at the top level.
	Fix  map[string]json.RawMessage `json:"fix,omitempty"`
	Drop []string                   `json:"drop,omitempty"`
}

// Flow allows content of one server in the arguments of read tools of another.
type Flow struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Task has a model read the members of a run, with tools, and answer in text.
type Task struct {
	Model  Model    `json:"use"`              // as the file has it: another address or price is another rule
	Task   string   `json:"task"`             // the instruction, the operator's text without templates
	Fields []string `json:"fields,omitempty"` // paths of the payload that the model sees; none: those of the envelope's default
	Tools  []Tool   `json:"tools,omitempty"`  // sorted by server and name
	Flows  []Flow   `json:"flows,omitempty"`
}

// Choice lets a model without tools choose one of the operator's acts.
type Choice struct {
	Model  Model
	Task   string
	Fields []string
	Acts   []Act // in the order of the file
}

// Act is an act that a model may choose. Its input is one JSON object: run, rule, seq, count,
// act, and the chosen args.
type Act struct {
	Name string // [a-z0-9-]{1,40}
	Args []Arg  // in the order of the file; all are required
	Mode Mode   // ModeAsk or ModeAuto
	Do   Do     // Command, Webhook or Note

	Files // of a Command, once the request is prepared
}

// Arg is an argument of an Act. Exactly one of Enum, Number, Bool and Pattern is set: free text
// of a model is never passed on.
type Arg struct {
	Name    string   `json:"name"`
	Enum    []string `json:"enum,omitempty"`
	Number  *Range   `json:"number,omitempty"`
	Bool    bool     `json:"bool,omitempty"`
	Pattern string   `json:"pattern,omitempty"` // of the whole value: RE2, at most 200 bytes of value
}

// Range bounds a number.
type Range struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// Agent is a program that speaks the Agent Client Protocol on its standard input and output,
// started and confined like a Command.
type Agent struct {
	Command
	Task   string
	Fields []string
	Keep   bool // continues the conversation of earlier runs
	// Tools are served to the agent by `eventdeck gate`.
	Tools []Tool
	Flows []Flow
}

// ToolDef is a tool as its server describes it now.
type ToolDef struct {
	Name        string
	Description trust.Text
	Schema      json.RawMessage // of the arguments, as received
	// Pin is SHA-256 over the address of the server and over name, description, schema and
	// hints as received, in hexadecimal.
	Pin string
	// MayWrite: the server hints that the tool changes something. That can only raise the
	// class, from read to write.
	MayWrite bool
}

// ToolResult is what a tool answered.
type ToolResult struct {
	Content trust.Text // its text; other content is only named
	Failed  bool       // the tool reports failure
	Cut     int        // bytes beyond MaxToolResult, which are missing
}

// MaxToolResult is how many bytes of a tool's result are kept.
const MaxToolResult = 32 << 10

// Pinned is a Tool with its description at the time the rule was armed. If the server changes it
// afterwards, the rule acts without the tool.
type Pinned struct {
	Tool
	Description trust.Text      `json:"description"`
	Schema      json.RawMessage `json:"schema"` // without the parameters that are fixed or dropped
	Pin         string          `json:"pin"`
}

// FindTool returns the tool of a server by name, nil if tools does not have it.
func FindTool(tools []Pinned, server, name string) *Pinned {
	for i := range tools {
		if t := &tools[i]; t.Server == server && t.Name == name {
			return t
		}
	}
	return nil
}

// StepKind says what a step does.
type StepKind string

// The kinds of steps.
const (
	StepModel  StepKind = "model"  // a model was asked
	StepTool   StepKind = "tool"   // a tool was called
	StepPrompt StepKind = "prompt" // an agent was given a prompt
)

// StepState says how far a step is.
type StepState string

// The states of steps.
const (
	StepBegun   StepState = "begun"   // its outcome is not known
	StepDone    StepState = "done"    // it ended well
	StepFailed  StepState = "failed"  // it ended badly
	StepRefused StepState = "refused" // the policy or the operator refused it: it was not begun
)

// Step is one step of a run that takes several. The bytes that were sent to a model can be
// reproduced from the request with which the run began and the steps before.
type Step struct {
	N    int      `json:"n"` // from 1
	Kind StepKind `json:"kind"`

	// Of a tool.
	Call   string          `json:"call,omitempty"` // id that the model gave the call
	Server string          `json:"server,omitempty"`
	Tool   string          `json:"tool,omitempty"`
	Class  ToolClass       `json:"class,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Result *ToolResult     `json:"result,omitempty"`

	// Of a model or an agent.
	Sent   string  `json:"sent,omitempty"` // SHA-256 of the exact bytes that were sent, in hexadecimal
	Tries  int     `json:"tries,omitempty"`
	Answer *Answer `json:"answer,omitempty"`
	Usage  Usage   `json:"usage,omitzero"`

	// Cost in micro-dollars: the upper bound while the step is begun or its outcome unknown.
	Cost int64 `json:"cost,omitempty"`

	State StepState `json:"state"`
	Why   string    `json:"why,omitempty"`
	Line  string    `json:"line,omitempty"` // file:line:column that decided

	Began time.Time `json:"began"`
	Ended time.Time `json:"ended,omitzero"`
	// Again is when the same is asked in a further step, after a model could not answer; zero:
	// it is not. Such a step does not count towards [MaxSteps].
	Again time.Time `json:"again,omitzero"`
}

// Answer is what a model answered: text, calls of tools, or both.
type Answer struct {
	Text  trust.Text `json:"text,omitempty"`
	Calls []Call     `json:"calls,omitempty"`
	// Cut: the answer reached its limit of tokens.
	Cut bool `json:"cut,omitempty"`
}

// Call is a call of a tool that a model asks for. Nothing in it is trusted.
type Call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	// Extra is opaque data that the provider wants back with the call, e.g. a signature of
	// the model's reasoning.
	Extra json.RawMessage `json:"extra,omitempty"`
}
