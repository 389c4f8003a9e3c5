// Has the captions that explain the events of the demo to an audience. They contain
// no text of a server.

package present

import (
	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// beat is a step of the story: the event with a value at a path of its payload.
type beat struct{ typ, path, value, says string }

var beats = []beat{
	{"deploy.changed", ".phase", "started", "A deploy begins. It comes by poll: the host asks, and nothing is missed between two answers."},
	{"deploy.changed", ".phase", "canary", "One buyer in ten gets the new version first. What goes wrong now goes wrong for few."},
	{"deploy.changed", ".phase", "finished", "The deploy is done. Remember the moment: most incidents begin with one."},
	{"alert.fired", ".severity", "warning", "A first warning. Severity is the sender's word, and stands beside each event."},
	{"incident.changed", ".state", "opened", "The incident has a number. = follows it over all servers, whatever each of them calls it."},
	{"page.sent", ".attempt", "1", "The page came by webhook. Its first delivery was signed with an unknown secret: refused, noted, and right at the next try."},
	{"page.sent", ".attempt", "2", "No answer yet: the pager calls again. 4 shows what was refused, and why."},
	{"incident.changed", ".state", "acknowledged", "A person has it now. m marks an event and keeps a note for the report."},
	{"document.filed", ".shelf", "letters", "A customer's letter gives orders to an AI that may read along. It is flagged and shown as it is; ! says why."},
	{"incident.changed", ".state", "cause-suspected", "A suspicion: the retry loop of the new version. & shows all that shares the incident's number, in lanes over time."},
	{"deploy.changed", ".phase", "rollback-started", "The rollback. What came while a stream was cut is replayed; what cannot be is shown as a gap."},
	{"deploy.changed", ".phase", "rolled-back", "The old version is back. Now the numbers must prove it."},
	{"alert.fired", ".severity", "info", "The error rate is normal again."},
	{"incident.changed", ".state", "resolved", "Resolved, a minute after the deploy. :report writes what happened, with notes and gaps."},
}

// GapSays is the caption of a gap in the demo.
const GapSays = "A stream was cut. Presence has no replay, so the gap is told, never hidden; the others went on where they were."

// Caption returns the caption of a record, "" if it is no step of the story.
func Caption(r *event.Record) string {
	if r.Kind == event.KindGap {
		return GapSays
	}
	if r.Kind != event.KindEvent {
		return ""
	}
	for _, b := range beats {
		if !r.Named(b.typ) && !(b.typ == "document.filed" && r.Type.Raw() == "event://archive/filed") {
			continue
		}
		path, err := filter.ParsePath(b.path)
		if err != nil {
			continue
		}
		if value, ok := path.Text(r.Data); ok && value.Raw() == b.value {
			return b.says
		}
	}
	return ""
}
