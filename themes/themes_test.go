package themes

import (
	"math"
	"strings"
	"testing"
)

func TestEveryThemeHasAName(t *testing.T) {
	seen := map[string]bool{}
	for i, name := range Names() {
		th, ok := Named(name)
		if !ok || th.Name != name || th.About == "" || All()[i].Name != name || seen[name] {
			t.Errorf("Named(%q) = %q, %v", name, th.Name, ok)
		}
		seen[name] = true
	}
	if len(seen) != 7 {
		t.Errorf("%d themes", len(seen))
	}
	if _, ok := Named("plaid"); ok {
		t.Error("a theme that does not exist was found")
	}
}

// Important roles differ from plain text, and from each other, in every theme.
func TestRolesDifferWithoutColours(t *testing.T) {
	for _, th := range All() {
		if err := th.check(); err != nil {
			t.Errorf("%s: %v", th.Name, err)
		}
		if th.On(Span) == th.On(SpanOn) || th.On(Span) == th.On(Mark) || th.On(SpanMark) == th.On(Span) {
			t.Errorf("%s: spans, marks in them and the one that is explained look alike", th.Name)
		}
		if th.On(Cursor) == th.On(CursorOff) {
			t.Errorf("%s: the row of the pane with the focus looks like the others", th.Name)
		}
	}
}

func TestNoneHasNoColour(t *testing.T) {
	th, _ := Named("none")
	for _, r := range allRoles() {
		for _, p := range strings.Split(strings.Trim(th.On(r), "\x1b[m"), ";") {
			if len(p) > 1 {
				t.Errorf("%v uses %q", r, th.On(r))
			}
		}
	}
}

func TestDefaultThemeSuitsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		dark  bool
		depth Depth
		want  string
	}{
		{true, ManyColours, "dark"}, {false, ManyColours, "light"}, {true, NoColours, "none"},
		{false, NoColours, "none"}, {true, SixteenColours, "ansi16"}, {false, SixteenColours, "ansi16-light"},
	} {
		if got := For(c.dark, c.depth).Name; got != c.want {
			t.Errorf("For(%v, %v) = %s, want %s", c.dark, c.depth, got, c.want)
		}
	}
}

// usual are common backgrounds of terminals: black, Visual Studio, Solarized, One Dark, Ubuntu;
// white, grey, Solarized, Catppuccin, Gruvbox.
var usual = map[Background][]colour{
	DarkBackground:  {rgb(0x000000), rgb(0x1e1e1e), rgb(0x002b36), rgb(0x282c34), rgb(0x300a24)},
	LightBackground: {rgb(0xffffff), rgb(0xfafafa), rgb(0xfdf6e3), rgb(0xeff1f5), rgb(0xfbf1c7)},
}

// shown returns a colour as a terminal of a colour depth shows it.
func shown(c colour, d Depth) colour {
	n := c.of256()
	if d != Colours256 || n == 0 {
		return c
	}
	if n >= 232 {
		v := uint32(8 + (n-232)*10)
		return rgb(v<<16 | v<<8 | v)
	}
	part := func(v int) uint32 {
		if v == 0 {
			return 0
		}
		return uint32(55 + 40*v)
	}
	n -= 16
	return rgb(part(n/36)<<16 | part(n/6%6)<<8 | part(n%6))
}

// Text has a contrast of at least 4.5, lines and selected rows of at least 3 (WCAG 2.2, 1.4.3 and
// 1.4.11), on the background of the role or on every usual one, with millions of colours and with
// 256.
func TestContrast(t *testing.T) {
	for _, th := range All() {
		for _, d := range []Depth{ManyColours, Colours256} {
			for _, r := range allRoles() {
				l := th.looks[r]
				if l.text&fromRGB == 0 {
					continue
				}
				least, on := 4.5, usual[th.Suits]
				if r == Rule || r == RuleOn || r == Backdrop || r == Chart {
					least = 3
				}
				if l.back != 0 {
					on = []colour{l.back}
				}
				for _, b := range on {
					if c := contrast(shown(l.text, d), shown(b, d)); c < least {
						t.Errorf("%s, depth %d: %v has a contrast of %.2f on %06x, want %.1f", th.Name, d, r, c, b&0xffffff, least)
					}
				}
			}
			for _, r := range []Role{Cursor, CursorOff} {
				back := th.looks[r].back
				for _, b := range usual[th.Suits] {
					if c := contrast(shown(back, d), b); back != 0 && c < 3 {
						t.Errorf("%s, depth %d: %v has a contrast of %.2f on %06x, want 3", th.Name, d, r, c, b&0xffffff)
					}
				}
			}
		}
	}
}

// The sixteen colours of xterm and of VGA.
var sixteen = map[string][16]uint32{
	"xterm": {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff},
	"VGA":   {0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa, 0xaaaaaa, 0x555555, 0xff5555, 0x55ff55, 0xffff55, 0x5555ff, 0xff55ff, 0x55ffff, 0xffffff},
}

// Text in sixteen colours has a contrast of at least 4.5 on black or white, also where bold text
// is shown in the bright colour.
func TestContrastOfSixteenColours(t *testing.T) {
	for name, ground := range map[string]colour{"ansi16": rgb(0), "ansi16-light": rgb(0xffffff)} {
		th, ok := Named(name)
		if !ok {
			t.Fatal(name)
		}
		for terminal, colours := range sixteen {
			for _, r := range allRoles() {
				l := th.looks[r]
				if l.text&fromTerminal == 0 || r == Rule || r == Backdrop {
					continue
				}
				back := ground
				if l.back&fromTerminal != 0 {
					back = rgb(colours[l.back&15])
				}
				shown := []uint32{colours[l.text&15]}
				if l.attrs&bold != 0 {
					shown = append(shown, colours[l.text&15|8])
				}
				for _, c := range shown {
					if c := contrast(rgb(c), back); c < 4.5 {
						t.Errorf("%s on %s: %v has a contrast of %.2f", name, terminal, r, c)
					}
				}
			}
		}
	}
}

// Every colour of the built-in themes has replacements on terminals with fewer colours.
func TestColoursHaveReplacements(t *testing.T) {
	for _, th := range All() {
		for _, r := range allRoles() {
			for _, c := range []colour{th.looks[r].text, th.looks[r].back} {
				if c&fromRGB != 0 && (c.of256() < 16 || c.of16() < 0) {
					t.Errorf("%s: %06x of %v has no replacement", th.Name, c&0xffffff, r)
				}
			}
			few := th.At(SixteenColours)
			if on := few.On(r); strings.Contains(on, "38;") || strings.Contains(on, "48;") {
				t.Errorf("%s: %v is %q among sixteen colours", th.Name, r, on)
			}
			if on := few.At(Colours256); strings.Contains(on.On(r), "8;2;") {
				t.Errorf("%s: %v is %q among 256 colours", th.Name, r, on.On(r))
			}
		}
	}
}

// seenBy are matrices on linear RGB that simulate colour blindness (Viénot, Brettel, Mollon 1999).
var seenBy = map[string][3][3]float64{
	"protanopia":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
	"deuteranopia": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
	"tritanopia":   {{1.01277, 0.13548, -0.14826}, {-0.01243, 0.86812, 0.14431}, {0.07589, 0.80500, 0.11910}},
	"none":         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
}

// States differ for every kind of colour vision.
func TestThemesDistinguishStates(t *testing.T) {
	for _, name := range []string{"dark", "light", "contrast-dark", "contrast-light"} {
		th, _ := Named(name)
		states := []Role{Good, Busy, Warn, Bad}
		for who, m := range seenBy {
			for i, x := range states {
				for _, y := range states[i+1:] {
					if d := apart(th.looks[x].text, th.looks[y].text, m); d < 15 {
						t.Errorf("%s: with %s %v and %v are %.1f apart, want 15", name, who, x, y, d)
					}
				}
			}
		}
	}
}

// apart returns the distance in CIE L*a*b* after a matrix on linear RGB.
func apart(x, y colour, m [3][3]float64) float64 {
	a, b := lab(x, m), lab(y, m)
	return math.Sqrt(math.Pow(a[0]-b[0], 2) + math.Pow(a[1]-b[1], 2) + math.Pow(a[2]-b[2], 2))
}

func lab(c colour, m [3][3]float64) [3]float64 {
	var lin, seen [3]float64
	for i := range lin {
		v := float64(c>>(16-8*i)&255) / 255
		lin[i] = v / 12.92
		if v > 0.04045 {
			lin[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	for i := range seen {
		for j := range lin {
			seen[i] += m[i][j] * lin[j]
		}
		seen[i] = max(seen[i], 0)
	}
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.95047)
	y := f(0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2])
	z := f((0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// A mark in a chosen row has the background of the row but does not look like it.
func TestMarkInAChosenRowIsDistinct(t *testing.T) {
	for _, name := range Names() {
		theme, ok := Named(name)
		if !ok {
			t.Fatal(name)
		}
		for _, row := range []Role{Cursor, CursorOff} {
			if theme.Over(row, Mark) == theme.On(row) {
				t.Errorf("%s: a mark looks like the rest of row %d", name, row)
			}
			back := theme.looks[row].back
			if over := theme.Over(row, Mark); back != 0 && !strings.Contains(over, back.params(true, ManyColours)) {
				t.Errorf("%s: a mark in row %d has another background: %q", name, row, over)
			}
		}
	}
}
