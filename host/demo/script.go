package demo

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strconv"
	"time"
)

// period is the length of the scripted incident at speed 1.
const period = 3 * time.Minute

// canaryFrom and canaryTo bound the part of every loop in which the canary
// runs, and with it the type canary.sampled exists.
const (
	canaryFrom = 8 * time.Second
	canaryTo   = 128 * time.Second
)

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

// milestones are the story: deploy, rising errors, pages, rollback, all clear.
func (b *scriptBuilder) milestones() {
	type beat struct {
		at                      float64
		kind, service, severity string
		data                    string
	}
	for _, m := range []beat{
		{0.3, "deploy.changed", "checkout", "info", `{"deploy":"d-$LOOP","service":"checkout","version":"2026.11.$LOOP","phase":"queued","author":"mira"}`},
		{1.2, "deploy.changed", "checkout", "info", `{"deploy":"d-$LOOP","service":"checkout","version":"2026.11.$LOOP","phase":"started","author":"mira"}`},
		{8, "deploy.changed", "checkout", "info", `{"deploy":"d-$LOOP","service":"checkout","version":"2026.11.$LOOP","phase":"canary","share":0.1}`},
		{26, "deploy.changed", "checkout", "info", `{"deploy":"d-$LOOP","service":"checkout","version":"2026.11.$LOOP","phase":"finished"}`},
		{34, "alert.fired", "checkout", "warning", `{"alert":"error budget burns 6x","service":"checkout","severity":"warning","value":6.2}`},
		{41, "alert.fired", "checkout", "critical", `{"alert":"error rate above 5 %","service":"checkout","severity":"critical","value":0.071}`},
		{44, "incident.changed", "checkout", "critical", `{"incident":"$INC","state":"opened","severity":"critical","title":"Checkout fails for one buyer in ten"}`},
		{45, "page.sent", "checkout", "critical", `{"incident":"$INC","to":"oncall-payments","channel":"phone","attempt":1}`},
		{58, "page.sent", "checkout", "critical", `{"incident":"$INC","to":"oncall-payments","channel":"phone","attempt":2}`},
		{63, "incident.changed", "checkout", "critical", `{"incident":"$INC","state":"acknowledged","by":"jonas"}`},
		{71, "alert.fired", "payments", "critical", `{"alert":"queue age above 90 s","service":"payments","severity":"critical","value":94}`},
		{74, "page.sent", "payments", "critical", `{"incident":"$INC","to":"lead-payments","channel":"push","attempt":1}`},
		{96, "incident.changed", "checkout", "critical", `{"incident":"$INC","state":"cause-suspected","text":"retry loop in version 2026.11.$LOOP"}`},
		{112, "deploy.changed", "checkout", "warning", `{"deploy":"d-$LOOP","service":"checkout","phase":"rollback-started","by":"jonas"}`},
		{128, "deploy.changed", "checkout", "info", `{"deploy":"d-$LOOP","service":"checkout","phase":"rolled-back"}`},
		{141, "alert.fired", "checkout", "info", `{"alert":"error rate normal","service":"checkout","severity":"info","value":0.002}`},
		{155, "incident.changed", "checkout", "info", `{"incident":"$INC","state":"resolved","note":"all clear after rollback"}`},
		{170, "incident.changed", "checkout", "info", `{"incident":"$INC","state":"closed","review":"Thursday 10:00"}`},
	} {
		b.add(seconds(m.at), m.kind, m.data, map[string]string{"service": m.service, "severity": m.severity})
	}
}

// activity is the busy first type: whoever subscribes sees something at once.
func (b *scriptBuilder) activity() {
	calm := []string{"health check passed", "cache warmed", "worker joined the pool", "feature flag read", "certificate checked"}
	busy := []string{"retry budget spent", "timeout calling payments", "circuit breaker opened", "queue grows", "customer reports a failed order"}
	at := 100 * time.Millisecond
	for n := 1; at < period; n++ {
		text, severity := calm[b.rnd.IntN(len(calm))], "info"
		if at > 30*time.Second && at < 130*time.Second && b.rnd.IntN(3) > 0 {
			text, severity = busy[b.rnd.IntN(len(busy))], []string{"warning", "critical"}[b.rnd.IntN(2)]
		}
		service := tickServices[b.rnd.IntN(4)]
		b.add(at, "incident.activity", fmt.Sprintf(`{"incident":"$INC","service":%q,"severity":%q,"text":%q,"host":"%s-%d","step":%d}`,
			service, severity, text, service, b.rnd.IntN(8), n), map[string]string{"service": service, "severity": severity})
		at += 250*time.Millisecond + b.jitter(500*time.Millisecond)
	}
}

// samples are measurements: error rates rise after the deploy and fall after
// the rollback.
func (b *scriptBuilder) samples() {
	for at := 500 * time.Millisecond; at < period; at += 2 * time.Second {
		rate := 0.002
		if s := at.Seconds(); s > 26 && s < 132 {
			rate += 0.001 * min(s-26, 132-s) * 1.4
		}
		for _, service := range tickServices[:4] {
			share := strconv.FormatFloat(rate*(0.8+0.4*b.rnd.Float64()), 'f', 5, 64)
			b.add(at+b.jitter(200*time.Millisecond), "errors.sampled",
				fmt.Sprintf(`{"service":%q,"rate":%s,"requests":%d}`, service, share, 900+b.rnd.IntN(300)), map[string]string{"service": service})
		}
		if at > canaryFrom && at < canaryTo {
			share := strconv.FormatFloat(rate*2, 'f', 5, 64)
			b.add(at, "canary.sampled", fmt.Sprintf(`{"service":"checkout","version":"2026.11.$LOOP","rate":%s}`, share), nil)
		}
	}
}

// chatter is what people write, and what strangers slip in among it.
func (b *scriptBuilder) chatter() {
	people := []string{"mira", "jonas", "ade", "lin", "sofia"}
	lines := []string{"anyone else seeing failed orders?", "looking", "graphs are not happy", "I can reproduce it in staging", "support has 40 tickets now",
		"rolling back is safe, migrations are additive", "who owns the retry policy?", "coffee, then postmortem", "back to normal here 🎉", "merci à tous"}
	hostile := tricks()
	at := 400 * time.Millisecond
	for n := 0; at < period; n++ {
		author, said := people[b.rnd.IntN(len(people))], trick{text: lines[b.rnd.IntN(len(lines))]}
		if n%5 == 3 {
			author, said = "guest", hostile[n/5%len(hostile)]
		}
		room := []string{"incidents", "general"}[b.rnd.IntN(2)]
		data := fmt.Sprintf(`{"room":"%s","author":"%s","text":%s%s}`, room, author, quoteJSON(said.text), said.members)
		tags := map[string]string{"room": room, "author": author}
		b.add(at, "note.added", data, tags)
		b.add(at+50*time.Millisecond, "message.posted", data, tags)
		if n%3 == 1 {
			b.add(at+600*time.Millisecond, "reaction.added", fmt.Sprintf(`{"room":"%s","by":%q,"emoji":"👀"}`, room, people[n%5]), tags)
		}
		if n%2 == 0 {
			b.add(at+300*time.Millisecond, "presence.changed", fmt.Sprintf(`{"user":%q,"presence":%q}`, people[n/2%5], []string{"active", "away"}[n/2%2]), nil)
		}
		at += 800*time.Millisecond + b.jitter(900*time.Millisecond)
	}
}
