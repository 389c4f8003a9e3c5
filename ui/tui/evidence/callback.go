package evidence

import "eventdeck/host"

// CallbackAdvice explains why the server refuses the callback of a subscription, and what to do; ok
// is false if it does not refuse it.
func CallbackAdvice(v *host.SubscriptionView, receiver string) (words, step string, ok bool) {
	reason, ok := host.CallbackReason(v.Status.Error)
	if !ok {
		return "", "", false
	}
	return CallbackText(reason), CallbackStep(reason, receiver), true
}

// CallbackText explains the reason why a server could not verify the callback.
func CallbackText(reason string) string {
	switch reason {
	case "tls_error":
		return "The server does not trust this host's certificate."
	case "connection_refused", "timeout":
		return "The server cannot reach this host's receiver."
	case "http_4xx", "http_5xx":
		return "Another program answers at the callback address."
	case "challenge_failed":
		return "The answer to the server's challenge was changed on its way."
	}
	return "The server could not verify the callback."
}

// CallbackStep says what to do about the reason why a server could not verify the callback.
// receiver is the address of the receiver, "" if it is not known.
func CallbackStep(reason, receiver string) string {
	if receiver == "" {
		receiver = "this host's receiver"
	}
	switch reason {
	case "connection_refused", "timeout":
		return "it asks " + receiver + ": change to push or poll, or start with --callback-url and a tunnel"
	case "tls_error":
		return "Give it what `eventdeck ca` prints, or change to push"
	case "http_4xx", "http_5xx":
		return "check the tunnel or proxy in front of " + receiver
	case "challenge_failed":
		return "check the proxy in front of " + receiver
	}
	return "change to push or poll, or start with another --callback-url"
}
