package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"eventdeck/host/event"
)

const stdioPrefix = "stdio:"

// IsAddress reports whether arg is an address and not a name.
func IsAddress(arg string) bool {
	return strings.HasPrefix(arg, stdioPrefix) || strings.Contains(arg, "://")
}

// Bounds of the names and addresses of servers, in bytes.
const (
	maxName    = 255
	maxAddress = 4 << 10
)

func checkName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("the name of a server has %d bytes, must be at most %d; it begins %q", len(name), maxName, name[:40])
	}
	return nil
}

func checkLength(address string) error {
	if len(address) > maxAddress {
		return fmt.Errorf("an address has %d bytes, must be at most %d; put what is long into headers, or into a file that the command reads", len(address), maxAddress)
	}
	return nil
}

func parseAddress(arg string) (event.Server, error) {
	if err := checkLength(arg); err != nil {
		return event.Server{}, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	s := event.Server{Name: arg, AdHoc: true}
	command, ok := strings.CutPrefix(arg, stdioPrefix)
	if !ok {
		s.URL = arg
		if err := checkURL(arg); err != nil {
			return event.Server{}, fmt.Errorf("%w: %w", ErrAddress, err)
		}
		return s, nil
	}
	words, err := SplitCommand(command)
	if err != nil {
		return event.Server{}, fmt.Errorf("%w %q: %w", ErrAddress, arg, err)
	}
	s.Command, s.Args = words[0], words[1:]
	return s, nil
}

// checkURL checks an address. Its errors never repeat an address that may hold a password.
func checkURL(raw string) error {
	if err := checkLength(raw); err != nil {
		return err
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return fmt.Errorf("not a URL: %w", err)
	case u.User != nil:
		return errors.New("the URL holds a user name or password; give it in a header instead")
	case !slices.Contains([]string{"http", "https", "ws", "wss"}, u.Scheme):
		return fmt.Errorf("%q: only http, https, ws, wss and stdio: are spoken", event.PublicAddress(raw))
	case u.Hostname() == "":
		return fmt.Errorf("%q: the host is missing", event.PublicAddress(raw))
	}
	return nil
}

// ParseHeader reads a header "K: V", expanding environment variables in V. The errors never repeat
// the value.
//
// Errors: [ErrHeader], [ErrVariable].
func ParseHeader(s string, env Env) (name string, value event.Secret, err error) {
	name, text, ok := strings.Cut(s, ":")
	name = strings.TrimSpace(name)
	if !ok {
		return "", event.Secret{}, fmt.Errorf("%w: write it as 'Name: value'", ErrHeader)
	}
	x := expander{env: env}
	text = x.expand(strings.TrimSpace(text))
	if x.missing != "" {
		return "", event.Secret{}, fmt.Errorf("%w: header %q needs ${%s}", ErrVariable, name, x.missing)
	}
	if err := checkHeader(name, text); err != nil {
		return "", event.Secret{}, err
	}
	return name, event.NewSecret(text), nil
}

func checkHeader(name, value string) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("%w: %q is not a header name", ErrHeader, name)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return fmt.Errorf("%w: the value of %q holds characters that no header may have", ErrHeader, name)
	}
	return nil
}

// Errors of [SplitCommand].
var (
	errNoCommand = errors.New("the command is missing")
	errQuote     = errors.New("a quote is not closed")
	errNul       = errors.New("a command cannot hold a NUL character")
)

// SplitCommand splits a command line into words. Single and double quotes group; a backslash,
// outside of single quotes, escapes a quote, a blank or another backslash, and stands for itself
// before anything else. Nothing is expanded and no shell is run.
//
// Errors say what is wrong with the command line.
func SplitCommand(s string) ([]string, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return nil, errNul
	}
	var words []string
	var word strings.Builder
	inWord := false
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(s) && escapable(s[i+1], quote):
			i++
			word.WriteByte(s[i])
			inWord = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inWord = c, true
		case quote == 0 && isBlank(c):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errNoCommand
	}
	return words, nil
}

func escapable(c, quote byte) bool {
	if quote == '"' {
		return c == '"' || c == '\\'
	}
	return c == '"' || c == '\'' || c == '\\' || isBlank(c)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
