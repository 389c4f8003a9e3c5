package host

import (
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// InTrouble reports whether a subscription receives nothing although the operator did not pause
// it. If its server cannot be used, that is from the first failed attempt on.
func (v *SubscriptionView) InTrouble() bool {
	state := v.Status.State
	if state == "" {
		state = v.State
	}
	switch state {
	case event.StateStale, event.StateBackoff, event.StateThrottled, event.StateSuspended, event.StateRefused,
		event.StateNotRunning, event.StateDenied, event.StateEnded:
		return true
	case "", event.StateStarting, event.StateVerifying:
		return v.Status.Reason != ""
	}
	return false
}

// Waits reports whether a subscription was not confirmed yet because its server cannot
// be used.
func (v *SubscriptionView) Waits() bool {
	return v.Status.State == event.StateStarting && v.Status.Reason != ""
}

// Why says in a few words why a subscription receives nothing, such as "unreachable:
// connection refused, 4 tries since 09:03:58"; "" for no reason. at spells a time; nil leaves
// the tries out. The text is for one line. It may hold a server's words, and is not safe to
// print before it is escaped.
func (v *SubscriptionView) Why(at func(time.Time) string) string {
	s := &v.Status
	words := cause(s.Reason, s.Error)
	if s.Reason == event.ReasonRefused && s.Refused.Reason != "" {
		words = "delivery refused here: " + s.Refused.Reason
	}
	if at != nil && !s.Throttled.IsZero() {
		words = "until " + at(s.Throttled) + ", " + words
	}
	return words + triesWords(words, s.Attempt, s.Since, at)
}

// Why says in a few words why a server cannot be used, as [SubscriptionView.Why] does.
func (v *ServerView) Why(at func(time.Time) string) string {
	words := cause(v.Reason, trust.Unescaped(v.Err))
	return words + triesWords(words, v.Attempt, v.Since, at)
}

// triesWords counts the failed attempts behind words, if there are words.
func triesWords(words string, n int, since time.Time, at func(time.Time) string) string {
	if words == "" || n == 0 || at == nil {
		return ""
	}
	text := ", " + event.Some(uint64(n), "try", "tries")
	if !since.IsZero() {
		text += " since " + at(since)
	}
	return text
}

// cause says in a few words what a reason means, with what the error adds.
func cause(r event.Reason, err trust.Text) string {
	if words, ok := CallbackWords(err); ok && (r == event.ReasonTLS || r == event.ReasonChallenge) {
		return words // on this host's receiver
	}
	switch r {
	case event.ReasonUnreachable:
		return "unreachable: " + lastCause(err)
	case event.ReasonTLS:
		return "certificate not trusted: " + lastCause(err)
	case event.ReasonSignIn:
		return "needs sign-in"
	case event.ReasonRights:
		return "refused: no rights"
	case event.ReasonQuota:
		return event.ReasonQuota.Words()
	case event.ReasonChallenge:
		return "callback refused: " + challengeWords("")
	case event.ReasonSuspended:
		return "the server stopped delivering"
	case event.ReasonLocked:
		return err.Raw()
	case event.ReasonServerError:
		return "server error: " + lastCause(err)
	}
	return ""
}

// CallbackReason returns the reason for which a server could not verify the callback of this
// host, by its name in the proposal, from the text of an error. ok is false for another error.
func CallbackReason(err trust.Text) (reason string, ok bool) {
	name, reason := wire.FromText(err.Raw())
	return reason, name == wire.CallbackEndpointError
}

// CallbackWords says in a few words why a server refused the callback of this host, as in
// "callback refused: certificate not trusted", from the text of an error. ok is false for
// another error.
func CallbackWords(err trust.Text) (words string, ok bool) {
	reason, ok := CallbackReason(err)
	if !ok {
		return "", false
	}
	return "callback refused: " + challengeWords(reason), true
}

// challengeWords says why a server could not verify the callback, for a reason in the error of the
// proposal (mcp-events, CallbackEndpointError).
func challengeWords(reason string) string {
	switch reason {
	case "tls_error":
		return "certificate not trusted"
	case "connection_refused":
		return "connection refused"
	case "timeout":
		return "no answer in time"
	case "challenge_failed":
		return "challenge failed"
	case "http_4xx", "http_5xx":
		return "another program answers there"
	}
	return "not verified"
}

// lastCause returns the innermost cause of an error.
func lastCause(err trust.Text) string {
	text := err.Raw()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	switch {
	case text == "":
		return "no answer"
	case strings.Contains(text, "deadline exceeded"), strings.Contains(text, "i/o timeout"):
		return "no answer in time"
	case text == "EOF", text == "unexpected EOF":
		return "the connection was closed"
	}
	return text
}
