package event

// Server says how to reach an MCP server. It comes from the operator.
type Server struct {
	Name string

	// Either a process …
	Command string
	Args    []string
	Env     map[string]Secret
	Dir     string

	// … or an address.
	URL     string
	Headers map[string]Secret

	AdHoc bool // given on the command line, not configured

	// Fault says why the description cannot be used, e.g. that a variable in it is
	// not set. Such a server is shown with its fault, and never connected.
	Fault error
}
