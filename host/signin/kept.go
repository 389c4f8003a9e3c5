package signin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"eventdeck/host/event"
)

// kept is the stored state of an account.
type kept struct {
	Grant    grant
	Client   registration
	Access   event.Secret
	Refresh  event.Secret
	Scopes   []string
	Wanted   []string // scopes that were missing since then
	Obtained time.Time
	Expires  time.Time // zero: unknown
}

// grant is the authorization server that gave the tokens.
type grant struct {
	Issuer   string `json:"issuer,omitempty"`
	Resource string `json:"resource,omitempty"`
	TokenURL string `json:"tokenUrl,omitempty"`
	Revoke   string `json:"revokeUrl,omitempty"`
}

// registration is the client registration of the host at the authorization server.
type registration struct {
	ID       string
	Secret   event.Secret
	Method   string // of client authentication
	Redirect string // redirect URI
	Dynamic  bool   // the host registered itself
}

// sealed is the JSON of kept, with secrets in clear, that the vault seals.
type sealed struct {
	Grant  grant `json:"grant"`
	Client struct {
		ID       string `json:"id,omitempty"`
		Secret   string `json:"secret,omitempty"`
		Method   string `json:"method,omitempty"`
		Redirect string `json:"redirect,omitempty"`
		Dynamic  bool   `json:"dynamic,omitempty"`
	} `json:"client"`
	Access   string    `json:"access,omitempty"`
	Refresh  string    `json:"refresh,omitempty"`
	Scopes   []string  `json:"scopes,omitempty"`
	Wanted   []string  `json:"wanted,omitempty"`
	Obtained time.Time `json:"obtained,omitzero"`
	Expires  time.Time `json:"expires,omitzero"`
}

func (k kept) encode() (event.Secret, error) {
	s := sealed{Grant: k.Grant, Access: k.Access.Reveal(), Refresh: k.Refresh.Reveal(), Scopes: k.Scopes, Wanted: k.Wanted, Obtained: k.Obtained, Expires: k.Expires}
	s.Client.ID, s.Client.Secret, s.Client.Method = k.Client.ID, k.Client.Secret.Reveal(), k.Client.Method
	s.Client.Redirect, s.Client.Dynamic = k.Client.Redirect, k.Client.Dynamic
	text, err := json.Marshal(s)
	return event.NewSecret(string(text)), err
}

func decode(secret event.Secret) (kept, error) {
	var s sealed
	if json.Unmarshal([]byte(secret.Reveal()), &s) != nil {
		return kept{}, errors.New("it is no JSON") // the error of json would repeat a part of it
	}
	c := s.Client
	return kept{
		Grant: s.Grant, Scopes: s.Scopes, Wanted: s.Wanted, Obtained: s.Obtained, Expires: s.Expires,
		Access: event.NewSecret(s.Access), Refresh: event.NewSecret(s.Refresh),
		Client: registration{c.ID, event.NewSecret(c.Secret), c.Method, c.Redirect, c.Dynamic},
	}, nil
}

// state returns the stored state; the zero one while it cannot be read.
func (a *Account) state() kept {
	k, _ := a.read()
	return k
}

// read returns the stored state, which it reads from the vault at the first call. Only a locked
// state may be read later.
//
// Error: [event.ErrKeyLocked].
func (a *Account) read() (kept, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.loaded {
		return a.kept, nil
	}
	secret, err := a.opts.Vault.Credential(a.name())
	switch {
	case errors.Is(err, event.ErrNotFound):
	case errors.Is(err, event.ErrKeyLocked):
		return a.kept, err
	case err != nil:
		a.opts.Log.Warn("what is kept of a sign-in cannot be read", "error", err)
		return a.kept, nil
	default:
		if a.kept, err = decode(secret); err != nil {
			a.opts.Log.Warn("what is kept of a sign-in makes no sense; sign in again", "error", err)
		}
	}
	a.loaded = true
	a.opts.Secrets(a.kept.Access, a.kept.Refresh, a.kept.Client.Secret)
	return a.kept, nil
}

// keep makes k the state, here and in the vault. Tokens that need no operator are not stored.
func (a *Account) keep(ctx context.Context, k kept) {
	a.mu.Lock()
	a.kept, a.loaded = k, true
	a.opts.Secrets(k.Access, k.Refresh, k.Client.Secret)
	if !k.Access.IsZero() {
		a.need = ""
	}
	a.mu.Unlock()
	if a.opts.Server.OAuth.ClientCredentials {
		return
	}
	secret, err := k.encode()
	if err == nil {
		err = a.opts.Vault.SetCredential(ctx, a.name(), secret)
	}
	if err != nil {
		a.opts.Log.Error("the tokens of a sign-in cannot be kept; it ends with this run", "error", err)
	}
}

// name is the name of the account in the vault. It depends on the server's address, so that no
// token is sent to another address.
func (a *Account) name() string {
	server := a.opts.Server.Name
	if a.opts.Server.AdHoc {
		server = a.opts.Server.URL // its name may depend on the store
	}
	sum := sha256.Sum256([]byte(server + "\x00" + a.resource))
	return "oauth/" + hex.EncodeToString(sum[:16])
}
