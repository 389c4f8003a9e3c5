package rules

import (
	"fmt"
	"time"

	"eventdeck/host/react"
)

// Defaults and bounds of a rule.
const (
	defaultWait = 10 * time.Second
	maxWait     = time.Minute
	defaultAge  = 15 * time.Minute
	maxAge      = 30 * 24 * time.Hour
	maxOnce     = 30 * 24 * time.Hour
	maxPaths    = 8        // in key, and in once
	maxTypes    = 32       // that a rule listens to
	maxWindow   = day      // time span of a window
	maxCount    = 1000000  // members of a window
	maxArgs     = 100      // arguments of a command, and entries of its lists
	maxNote     = 500      // bytes
	maxText     = 4096     // bytes of any other text
	maxTask     = 16 << 10 // bytes of an instruction
	maxFields   = 50
	maxTools    = 64
	maxActs     = 20
	maxValues   = 100 // of an enum
	maxValue    = 200 // bytes of an enum value, of a pattern, and of a name of a server or tool

	day = 24 * time.Hour
)

// Default limits of a rule, and of all rules together. A rule may have more than its default, but
// never more than all rules together.
const (
	defaultRuns     = 6 // an hour
	defaultRunning  = 1
	defaultQueue    = 100
	defaultSpend    = 500_000 // micro-dollars
	defaultTokens   = 100_000
	defaultTime     = 5 * time.Minute
	defaultSendTime = 10 * time.Second // of a webhook
	allRuns         = 60               // an hour
	allRunning      = 4
	allQueue        = 1000
	allSpend        = 5_000_000
	allTokens       = 1_000_000
	allTime         = time.Hour
	boundRuns       = 1000 // a second
	boundRunning    = 64
	boundQueue      = 10_000
	boundSpend      = 1_000_000_000
	boundTokens     = 100_000_000
	boundTime       = day
	leastTime       = time.Second
)

func defaultRule(do react.Do) react.Limits {
	l := react.Limits{Runs: react.Rate{N: defaultRuns, Per: time.Hour}, Running: defaultRunning, Queue: defaultQueue,
		Spend: defaultSpend, Tokens: defaultTokens, Time: defaultTime}
	if do.Webhook != nil {
		l.Time = defaultSendTime
	}
	return l
}

func defaultAll() react.Limits {
	return react.Limits{Runs: react.Rate{N: allRuns, Per: time.Hour}, Running: allRunning, Queue: allQueue,
		Spend: allSpend, Tokens: allTokens, Time: allTime}
}

// bounds are the largest limits that the file may set for all rules.
var bounds = react.Limits{Runs: react.Rate{N: boundRuns, Per: time.Second}, Running: boundRunning, Queue: boundQueue,
	Spend: boundSpend, Tokens: boundTokens, Time: boundTime}

// readLimits parses limits, which may not exceed others. It adds their places to lines as
// "limits.NAME".
func (p *parser) readLimits(m member, what string, to *react.Limits, most react.Limits, lines map[string]string) {
	members, ok := p.object(m, `"limits" of `+what, "runs", "running", "queue", "spend", "tokens", "time")
	if !ok {
		return
	}
	for _, m := range members {
		lines["limits."+m.Key] = p.Where(m.At)
		switch m.Key {
		case "runs":
			p.rate(m, &to.Runs, most.Runs)
		case "running":
			p.number(m, &to.Running, 1, most.Running)
		case "queue":
			p.number(m, &to.Queue, 1, most.Queue)
		case "spend":
			p.money(m, &to.Spend, most.Spend)
		case "tokens":
			p.number(m, &to.Tokens, 1, most.Tokens)
		case "time":
			p.duration(m, &to.Time, leastTime, most.Time)
		}
	}
}

func (p *parser) rate(m member, to *react.Rate, most react.Rate) {
	shape := fmt.Sprintf("a rate such as %q, at most %q", "6/h", most)
	bounded(p, m, to, shape, react.ParseRate, func(r react.Rate) bool { return !r.Above(most) })
}

func (p *parser) money(m member, to *int64, most int64) {
	shape := fmt.Sprintf("dollars such as %q, at most %q", "0.50", react.Money(most))
	bounded(p, m, to, shape, react.ParseMoney, func(n int64) bool { return n <= most })
}
