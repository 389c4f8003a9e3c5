package demo

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strconv"
	"time"
)

// period is the length of the scripted incident at speed 1.
const period = time.Minute

// canaryFrom and canaryTo bound the part of every loop in which the canary
// runs, and with it the type canary.sampled exists.
const (
	canaryFrom = 4 * time.Second
	canaryTo   = 49 * time.Second
)

// letterAt is when the first hostile letter arrives.
const letterAt = 23 * time.Second

// script returns the steps of the incident in order of time. The seed decides
// the numbers, the authors and the jitter.
func script(seed int64) []step {
	b := &scriptBuilder{rnd: rand.New(rand.NewPCG(uint64(seed), 0x6576656e74))}
	b.milestones()
	b.activity()
	b.samples()
	b.chatter()
	sort.SliceStable(b.steps, func(i, j int) bool { return b.steps[i].at < b.steps[j].at })
	return b.steps
}

type scriptBuilder struct {
	rnd   *rand.Rand
	steps []step
}

func (b *scriptBuilder) add(at time.Duration, kind, data string, tags map[string]string) {
	b.steps = append(b.steps, step{at: at, kind: kind, data: data, tags: tags})
}

func (b *scriptBuilder) jitter(d time.Duration) time.Duration {
	return time.Duration(b.rnd.Int64N(int64(d)))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// milestones are the story: a deploy, rising errors, pages, a suspicion, the rollback,
// the all clear.
func (b *scriptBuilder) milestones() {
	type beat struct {
		at                      float64
		kind, service, severity string
		title                   string
		data                    string // further members
	}
	const deploy, incident, page = "deploy.changed", "incident.changed", "page.sent"
	for _, m := range []beat{
		{0.3, deploy, "checkout", "info", "checkout 2026.11.$LOOP is queued", `"deploy":"d-$LOOP","version":"2026.11.$LOOP","phase":"queued","author":"mira"`},
		{1.2, deploy, "checkout", "info", "checkout 2026.11.$LOOP is being deployed", `"deploy":"d-$LOOP","version":"2026.11.$LOOP","phase":"started","author":"mira"`},
		{4, deploy, "checkout", "info", "checkout 2026.11.$LOOP runs as a canary", `"deploy":"d-$LOOP","version":"2026.11.$LOOP","phase":"canary","share":0.1`},
		{9, deploy, "checkout", "info", "checkout 2026.11.$LOOP is deployed", `"deploy":"d-$LOOP","version":"2026.11.$LOOP","phase":"finished"`},
		{13, "alert.fired", "checkout", "warning", "checkout: error budget burns 6x", `"alert":"error budget burns 6x","value":6.2`},
		{16, "alert.fired", "checkout", "critical", "checkout: error rate above 5 %", `"alert":"error rate above 5 %","value":0.071,"incidentId":"$INC"`},
		{18, incident, "checkout", "critical", "Checkout fails for one buyer in ten", `"incident":"$INC","state":"opened"`},
		{19, page, "checkout", "critical", "oncall-payments is called by phone", `"incident":"$INC","to":"oncall-payments","channel":"phone","attempt":1`},
		{25, page, "checkout", "critical", "oncall-payments is called by phone again", `"incident":"$INC","to":"oncall-payments","channel":"phone","attempt":2`},
		{27, incident, "checkout", "critical", "Acknowledged: jonas is looking", `"incident":"$INC","state":"acknowledged","by":"jonas"`},
		{30, "alert.fired", "payments", "critical", "payments: queue age above 90 s", `"alert":"queue age above 90 s","value":94,"incidentId":"$INC"`},
		{31, page, "payments", "critical", "lead-payments is called", `"incident":"$INC","to":"lead-payments","channel":"push","attempt":1`},
		{38, incident, "checkout", "critical", "Retry loop suspected in 2026.11.$LOOP", `"incident":"$INC","state":"cause-suspected","deploy":"d-$LOOP"`},
		{44, deploy, "checkout", "warning", "checkout 2026.11.$LOOP is rolled back", `"deploy":"d-$LOOP","version":"2026.11.$LOOP","phase":"rollback-started","by":"jonas","reason":"$INC"`},
		{49, deploy, "checkout", "info", "checkout 2026.11.$LOOP is gone", `"deploy":"d-$LOOP","version":"2026.11.$LOOP","phase":"rolled-back","reason":"$INC"`},
		{52, "alert.fired", "checkout", "info", "checkout: error rate normal", `"alert":"error rate normal","value":0.002,"incidentId":"$INC"`},
		{55, incident, "checkout", "info", "Resolved: all clear after the rollback", `"incident":"$INC","state":"resolved"`},
		{58, incident, "checkout", "info", "Closed; review on Thursday at 10:00", `"incident":"$INC","state":"closed"`},
	} {
		b.add(seconds(m.at), m.kind, fmt.Sprintf(`{"title":"%s","severity":%q,"service":%q,%s}`, m.title, m.severity, m.service, m.data),
			map[string]string{"service": m.service, "severity": m.severity})
	}
}

// activity is the busy first type: a subscriber sees an event at once. Failures repeat several
// times in a row.
func (b *scriptBuilder) activity() {
	calm := []string{"health check passed", "cache warmed", "worker joined the pool", "feature flag read", "certificate checked"}
	busy := []string{"queue grows", "retry budget spent", "timeout calling payments", "circuit breaker opened"}
	text, severity, service, left := "", "", "", 0
	at := 100 * time.Millisecond
	for n := 1; at < period; n++ {
		if left--; left < 0 {
			text, severity, service, left = calm[b.rnd.IntN(len(calm))], "info", tickServices[b.rnd.IntN(4)], 0
			if at > 11*time.Second && at < 47*time.Second {
				text, severity, service = busy[b.rnd.IntN(len(busy))], []string{"warning", "error"}[b.rnd.IntN(2)], tickServices[b.rnd.IntN(2)]
				left = 2 + b.rnd.IntN(8)
			}
		}
		b.add(at, "incident.activity", fmt.Sprintf(`{"incident":"$INC","service":%q,"severity":%q,"text":%q,"host":"%s-%d","step":%d}`,
			service, severity, text, service, b.rnd.IntN(8), n), map[string]string{"service": service, "severity": severity})
		at += 800*time.Millisecond + b.jitter(800*time.Millisecond)
	}
}

// samples are measurements: error rates rise after the deploy and fall after
// the rollback.
func (b *scriptBuilder) samples() {
	severity := func(rate float64) string {
		switch {
		case rate > 0.05:
			return "critical"
		case rate > 0.01:
			return "warning"
		}
		return "info"
	}
	for at := 500 * time.Millisecond; at < period; at += 2 * time.Second {
		rate := 0.002
		if s := at.Seconds(); s > 9 && s < 50 {
			rate += 0.002 * min(s-9, 50-s)
		}
		for _, service := range tickServices[:4] {
			share := rate * (0.8 + 0.4*b.rnd.Float64())
			b.add(at+b.jitter(200*time.Millisecond), "errors.sampled",
				fmt.Sprintf(`{"title":"%s: %.1f %% errors","severity":%q,"service":%q,"rate":%s,"requests":%d}`, service, 100*share, severity(share), service, strconv.FormatFloat(share, 'f', 5, 64), 900+b.rnd.IntN(300)), map[string]string{"service": service, "severity": severity(share)})
		}
		if at > canaryFrom && at < canaryTo && int(at/time.Second)%6 == 4 {
			b.add(at, "canary.sampled", fmt.Sprintf(`{"title":"canary of 2026.11.$LOOP: %.1f %% errors","severity":%q,"service":"checkout","version":"2026.11.$LOOP","rate":%s}`,
				200*rate, severity(2*rate), strconv.FormatFloat(rate*2, 'f', 5, 64)), nil)
		}
	}
}

// chatter is the messages of people, one of them a stranger.
func (b *scriptBuilder) chatter() {
	people := []string{"mira", "jonas", "ade", "lin", "sofia"}
	lines := []string{"checkout goes out in a minute", "canary looks good", "anyone else seeing failed orders?", "I can reproduce it in staging", "support has 40 tickets now",
		"who owns the retry policy?", "rolling back is safe, migrations are additive", "back to normal here 🎉"}
	hostile := tricks()
	for n, line := range lines {
		at := 400*time.Millisecond + time.Duration(n)*7*time.Second
		author, said := people[n%len(people)], trick{text: line}
		b.say(at, n, author, said, "info")
		if n == 4 { // beside the letter, which comes to the archive
			b.say(at+2*time.Second, n, "guest", hostile[b.rnd.IntN(len(hostile))], "info")
		}
		if n%2 == 0 {
			b.add(at+300*time.Millisecond, "presence.changed", fmt.Sprintf(`{"title":"%s is %s","severity":"info","user":%q,"presence":%q}`, author, presences[n/2%2], author, presences[n/2%2]), nil)
		}
		if n%3 == 1 {
			b.add(at+600*time.Millisecond, "reaction.added", fmt.Sprintf(`{"title":"%s reacts with 👀","severity":"info","room":"incidents","by":%q,"emoji":"👀"}`, people[(n+1)%5], people[(n+1)%5]), map[string]string{"room": "incidents"})
		}
	}
}

var presences = [...]string{"active", "away"}

// say adds a note on the incident and a message in a room.
func (b *scriptBuilder) say(at time.Duration, n int, author string, said trick, severity string) {
	room := []string{"incidents", "general"}[n/3%2]
	data := fmt.Sprintf(`{"room":"%s","author":"%s","severity":%q,"text":%s%s}`, room, author, severity, quoteJSON(said.text), said.members)
	tags := map[string]string{"room": room, "author": author, "severity": severity}
	b.add(at, "note.added", data, tags)
	b.add(at+50*time.Millisecond, "message.posted", data, tags)
}
