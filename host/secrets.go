package host

import (
	"net/http"
	"strings"

	"eventdeck/host/event"
)

// hideServer has what is secret in the description of a server masked wherever a server
// repeats it.
func (h *Host) hideServer(s event.Server) {
	h.secrets.AddSecrets(s.OAuth.ClientSecret)
	h.secrets.AddSecrets(event.AddressSecrets(s.URL)...)
	for name, value := range s.Env {
		h.hideNamed(name, value)
	}
	for name, value := range s.Headers {
		h.hideNamed(name, value)
		req := http.Request{Header: http.Header{"Authorization": {value.Reveal()}}}
		if _, password, ok := req.BasicAuth(); ok {
			h.hideNamed("password", event.NewSecret(password))
		}
		if scheme, credentials, ok := strings.Cut(value.Reveal(), " "); ok && strings.EqualFold(scheme, "Bearer") {
			h.hideNamed("token", event.NewSecret(credentials))
		}
	}
}

// hideNamed hides a value that its name calls secret, or that looks like a key. Others,
// such as a language or a path, would be found where they are not meant.
func (h *Host) hideNamed(name string, value event.Secret) {
	if event.SecretName(name) || event.LooksRandom(value.Reveal()) {
		h.secrets.AddSecrets(value)
	}
}

// hideSubscription has what is secret of a subscription masked wherever a server
// repeats it: arguments, what signs its deliveries, what resumes its stream.
func (h *Host) hideSubscription(s event.Subscription) {
	h.hide(s.Key.Args, s.Shown)
	h.secrets.AddSecrets(s.Hook.Secret, s.Hook.Previous, s.Resume)
}
