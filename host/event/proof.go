package event

import "time"

// Proof says whether it is shown that nothing is missing up to the newest event
// that a subscription received.
type Proof string

// The proofs, from the opening of a delivery on.
const (
	ProofNew         Proof = "new"          // the first opening: there is nothing that could be missing
	ProofProving     Proof = "proving"      // the delivery runs, and continuity is not shown yet
	ProofProved      Proof = "proved"       // nothing is missing since the last opening
	ProofPossibleGap Proof = "possible-gap" // it could not be shown; a gap record stands in the log
	ProofNoReplay    Proof = "no-replay"    // the type has no cursor: nothing can be shown
)

// Reason says in one word why a subscription is in its state; empty where the
// state needs no reason.
type Reason string

// The reasons, as commands print them.
const (
	ReasonUnreachable Reason = "unreachable"  // the server cannot be reached
	ReasonTLS         Reason = "tls"          // one side does not trust the certificate of the other
	ReasonSignIn      Reason = "sign-in"      // the operator has to sign in
	ReasonRights      Reason = "rights"       // the server refuses for lack of rights
	ReasonQuota       Reason = "quota"        // a limit of the server is reached; tried again
	ReasonChallenge   Reason = "challenge"    // the server could not verify the callback
	ReasonRefused     Reason = "refused"      // the receiver refuses what the server delivers
	ReasonSuspended   Reason = "suspended"    // the server stopped delivering
	ReasonServerError Reason = "server-error" // the server answers with an error
	ReasonLocked      Reason = "locked"       // the key of the host's secrets cannot be had
	ReasonProving     Reason = "proving"      // continuity is being proved
)

// Words says the reason in a few words; "" for none.
func (r Reason) Words() string {
	switch r {
	case ReasonUnreachable:
		return "the server cannot be reached"
	case ReasonTLS:
		return "one side does not trust the certificate of the other"
	case ReasonSignIn:
		return "the server wants you to sign in"
	case ReasonRights:
		return "the server refuses for lack of rights"
	case ReasonQuota:
		return "a limit of the server is reached"
	case ReasonChallenge:
		return "the server could not verify the callback"
	case ReasonRefused:
		return "the receiver refuses what the server delivers"
	case ReasonSuspended:
		return "the server has stopped delivering"
	case ReasonServerError:
		return "the server answers with an error"
	case ReasonLocked:
		return "the secrets it needs are locked"
	case ReasonProving:
		return "it is being proved that nothing is missing"
	}
	return string(r)
}

// Refused sums up the deliveries to one subscription that the receiver refused, those of
// earlier runs that the store keeps included.
type Refused struct {
	Count  uint64
	Last   time.Time
	Reason string // of the last one, in the receiver's words
}
