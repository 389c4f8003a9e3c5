package model

import (
	"context"
	"fmt"
	"strings"

	"eventdeck/host/event"
)

// KeyringService is the service under which the system's keyring holds the keys of models.
const KeyringService = "eventdeck"

// KeyringAccount returns the account under which the keyring holds the key of a model.
func KeyringAccount(name string) string { return "model-" + name }

// HasKey reports whether the key of the model is where the file says. For a model without a key
// it is true.
//
// Errors: [ErrKey], the cause of ctx.
func (c *Client) HasKey(ctx context.Context) error {
	_, err := c.key(ctx)
	return err
}

// key looks the key up, and has it masked in errors from then on.
func (c *Client) key(ctx context.Context) (event.Secret, error) {
	var key event.Secret
	name, named := strings.CutPrefix(c.model.Key, "${")
	name, closed := strings.CutSuffix(name, "}")
	switch {
	case c.model.Key == "":
		return key, nil
	case c.model.Key == "keyring":
		value, err := c.fromKeyring(ctx)
		if err != nil {
			return key, err
		}
		key = event.NewSecret(value)
	case !named || !closed || name == "":
		return key, fmt.Errorf("%w %s: write \"key\": \"${NAME}\" and put it into that variable of the environment, or \"keyring\"", ErrKey, c.model.Name)
	default:
		value, ok := c.o.Env(name)
		if !ok || value == "" {
			return key, fmt.Errorf("%w %s: the environment of eventdeck has no variable %s", ErrKey, c.model.Name, name)
		}
		key = event.NewSecret(value)
	}
	for _, b := range []byte(key.Reveal()) {
		if b <= ' ' || b >= 0x7f {
			return event.Secret{}, fmt.Errorf("%w %s: it has a blank, a line end or a character outside of ASCII; store it without", ErrKey, c.model.Name)
		}
	}
	c.o.Redact.AddSecrets(key)
	return key, nil
}

// fromKeyring waits for the keyring, at most times.ring.
func (c *Client) fromKeyring(ctx context.Context) (string, error) {
	account := KeyringAccount(c.model.Name)
	if c.o.Keyring == nil {
		return "", fmt.Errorf("%w %s: there is no keyring here; write \"key\": \"${NAME}\"", ErrKey, c.model.Name)
	}
	within, cancel := context.WithTimeoutCause(ctx, c.times.ring, fmt.Errorf("no answer within %v; unlock it and try again", c.times.ring))
	defer cancel()
	text, err := c.o.Keyring.Get(within, KeyringService, account)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fmt.Errorf("%w %s: keyring, service %s, account %s: %w", ErrKey, c.model.Name, KeyringService, account, err)
	case text == "":
		return "", fmt.Errorf("%w %s: keyring, service %s, account %s: it is empty", ErrKey, c.model.Name, KeyringService, account)
	}
	return text, nil
}
