package event

// Server says how to reach an MCP server. It comes from the operator.
type Server struct {
	Name string // configured, or the address: see [AddressName]

	// Either a process …
	Command string
	Args    []string
	Env     map[string]Secret
	Inherit []string // names of further variables that the process gets from this one
	Dir     string

	// … or an address.
	URL     string // http, https, ws or wss
	Headers map[string]Secret
	// Transport is a hint where the address does not say enough: one of the
	// constants, or "" to find out.
	Transport string
	CAFile    string // PEM certificates that are trusted beside the system's
	OAuth     OAuth

	// AllowUnsigned accepts webhook deliveries of this server without a proof that they are
	// genuine. Without it such a subscription is refused.
	AllowUnsigned bool

	// RequireServerKey takes webhook deliveries only if a key that the server
	// publishes at its own origin has signed them too (v1a).
	RequireServerKey bool

	AdHoc  bool // given on the command line, not configured
	ByHand bool // added by the operator while the host runs, and noted in the audit log

	// Fault says why the description cannot be used, e.g. that a variable in it is
	// not set. Such a server is shown with its fault, and never connected.
	Fault error
}

// Hints of [Server.Transport].
const (
	TransportHTTP = "http" // Streamable HTTP, and nothing else is tried
	TransportSSE  = "sse"  // HTTP+SSE of 2024-11-05
	TransportH2C  = "h2c"  // Streamable HTTP over HTTP/2 without TLS, on loopback
)

// OAuth is the operator's registration with an authorization server. With the zero value
// everything is discovered.
type OAuth struct {
	ClientID     string
	ClientSecret Secret
	// MetadataURL is the client-id metadata document that describes the host: an
	// https address of the operator's.
	MetadataURL string
	Scopes      []string // none: those that the server names
	Issuer      string   // the only authorization server that may be used; "": the one that the server names
	// ClientCredentials signs the host in with its own id and secret, without a
	// browser.
	ClientCredentials bool
	CallbackPort      int // of the redirect to loopback; 0: any
}
