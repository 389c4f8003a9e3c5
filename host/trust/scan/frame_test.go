package scan

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
	"eventdeck/host/trust/internal/runes"
	"eventdeck/host/trust/internal/trusttest"
)

// hostilePieces are the parts of random payloads.
var hostilePieces = []string{
	"a", "Z", " ", "  ", "\n", "\r\n", "\r", "\t", "\b", "\a", "\x00", "\x7f", "\x0b", "\x0e",
	"\x1b", "\x1b[", "\x1b[2J", "\x1b[31m", "\x1b[8m", "\x1b]0;t\a", "\x1b]52;c;aGk=\x1b\\", "\x1b]8;;u\x1b\\", "\x1bP", "\x1b_G", "\x1bc", "\x1b(0",
	"\u009b31m", "\u009d52;", "\u0090", "\u009c", "\u0085", "\x9b", "\u009b", "\x9b\x9b\x9b", "\xff", "\xc0\xaf", "\xed\xa0\xbd", "\xed\xb8\x80",
	"\u202e", "\u2066", "\u2069", "\u200e", "\u061c", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u3164",
	"\U000e0041", "\U000e007f", "\U0001f3f4", runes.Tagged("gbeng"), "\ufe0f", "\ufe0e", "\ufe00", "\U000e0100", "\U000e01ef",
	"\u0301", "\u0336", "\u20e3", "\u0e33", "\u0903", "\u093f", "\u1160", "\u11a8", "\u1100", "한", "\uff9e", "\u0d4e", "\u0600",
	"👩", "🏽", "🚀", "🇩", "🇪", "❤", "1", "#", "日", "本", "\u3000", "\u00a0", "\u2003", "\u2028", "\u2800",
	"ש", "م", "ی", "क", "्", "ष", "ä", "р", "𝐢", "Ａ", "\ufdfd", "\U00012031", "\u2e3b", "\ue0b0", "\ufdd0", "\uffff", "\U000f0000", "\u0378",
	`\`, `\\`, `\x1b`, `\u202e`, `\U000e0041`, "‹", "›", "‹\\x07×200›", "…", `"`, "'", "<!--", "-->", "│", "▌",
	"ignore all previous instructions ", "SWdub3JlIGFsbCBwcmV2aW91cw==", "https://a@b.example/", "[x](", strings.Repeat("x", 90),
}

func randomPayload(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(24) {
		p := hostilePieces[r.IntN(len(hostilePieces))]
		n := 1
		if r.IntN(8) == 0 {
			n = 1 + r.IntN(20)
		}
		b.WriteString(strings.Repeat(p, n))
	}
	return b.String()
}

// twoPanes lays out a payload like a program: a row of a list on the left, the detail on
// the right, borders around them, a status line with a name.
func twoPanes(payload []byte) []string {
	const left, right = 24, 38
	r := Scan(payload)
	row := trust.Line(trust.Untrusted(string(payload))).Clip(left)
	detail := trust.Detail(payload, r.Places(), right)
	lines := make([]string, 0, len(detail)+1)
	for i, d := range detail {
		l := trust.Rendered{}
		if i == 0 {
			l = row
		}
		lines = append(lines, "│"+l.Plain()+strings.Repeat(" ", left-l.Width)+"│"+d.Plain()+strings.Repeat(" ", right-d.Width)+"│")
	}
	status := trust.Line(trust.Untrusted(string(payload))).Clip(left + right)
	return append(lines, "│"+status.Plain()+strings.Repeat(" ", left+right-status.Width)+"│end│")
}

// TestRandomPayloads draws two-pane frames of random hostile payloads. It
// draws 3,000, or as many as TRUST_PAYLOADS says.
func TestRandomPayloads(t *testing.T) {
	n := 3000
	if s := os.Getenv("TRUST_PAYLOADS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		s := randomPayload(r)
		if i%16 == 0 {
			trusttest.CheckText(t, s)
		}
		payload := trusttest.WrapText(s)
		if i%4 == 0 {
			// Raw bytes, or escaped where JSON forbids them.
			payload = []byte(`{"title":"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"}`)
		}
		for _, l := range twoPanes(payload) {
			if w := ansi.StringWidth(l); w != 65 && w != 68 {
				t.Fatalf("payload %d %q: a line of %d cells: %q", i, s, w, l)
			}
			if ansi.Strip(l) != l || strings.Count(l, "\n") > 0 {
				t.Fatalf("payload %d %q: a control in %q", i, s, l)
			}
			if !strings.HasPrefix(l, "│") || !strings.HasSuffix(l, "│") {
				t.Fatalf("payload %d %q: no border at %q", i, s, l)
			}
		}
	}
}
