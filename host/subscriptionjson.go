package host

import (
	"cmp"
	"fmt"
	"strconv"

	"eventdeck/host/export"
	"eventdeck/host/trust"
)

// AppendSubscription appends a subscription as an object of JSON on one line, without
// secrets.
func AppendSubscription(b []byte, v SubscriptionView) []byte {
	s := &v.Subscription
	b = append(b, `{"id":`...)
	b = trust.AppendJSONString(b, string(s.ID))
	b = export.AppendString(b, "server", s.Key.Server)
	b = export.AppendText(b, "type", s.Key.Type)
	b = export.AppendName(b, "arguments")
	if args := s.ShownArgs(); len(args) > 0 {
		b = trust.AppendCompactJSON(b, args)
	} else {
		b = append(b, "{}"...)
	}
	b = export.AppendString(b, "mode", string(s.Mode))
	b = export.AppendString(b, "dialect", DialectName(s.Dialect))
	b = appendBool(b, "noReplay", s.NoReplay)
	b = appendBool(b, "failover", s.Failover)
	b = export.AppendString(b, "preferred", string(cmp.Or(s.Preferred, s.Mode)))
	b = appendState(b, v)
	b = appendBool(b, "paused", s.Paused)
	b = export.AppendName(b, "cursor")
	b = s.Cursor.AppendJSON(b)
	b = export.AppendTime(b, "created", s.Created)
	b = export.AppendTime(b, "lastSeen", s.LastSeen)
	b = export.AppendTime(b, "refreshBefore", s.Lease.RefreshBefore)
	b = export.AppendName(b, "printed")
	b = fmt.Appendf(b, "%d", s.Printed)
	return append(b, '}')
}

// appendState appends the members about the state of a subscription.
func appendState(b []byte, v SubscriptionView) []byte {
	s := &v.Status
	b = appendBool(b, "running", v.Running)
	b = export.AppendString(b, "state", string(s.State))
	b = export.AppendName(b, "stateSeen")
	if v.Running {
		b = append(b, "null"...)
	} else {
		b = append(b, `{"state":`...)
		b = trust.AppendJSONString(b, string(v.State))
		b = append(export.AppendTime(b, "time", v.LastSeen), '}')
	}
	b = export.AppendTime(b, "since", s.Since)
	b = export.AppendString(b, "stateReason", string(s.Reason))
	b = export.AppendTime(b, "throttledUntil", s.Throttled)
	b = export.AppendString(b, "proof", string(s.Proof))
	b = export.AppendName(b, "refused")
	b = fmt.Appendf(b, `{"count":%d`, s.Refused.Count)
	b = export.AppendTime(b, "last", s.Refused.Last)
	b = append(export.AppendString(b, "reason", s.Refused.Reason), '}')
	b = export.AppendTime(b, "expires", v.Expires)
	b = export.AppendString(b, "evidence", v.Evidence)
	return export.AppendText(b, "error", s.Error)
}

func appendBool(b []byte, name string, value bool) []byte {
	return strconv.AppendBool(export.AppendName(b, name), value)
}
