package themes

// palette has the colours of a theme, from which looks derives the roles.
type palette struct {
	text, dim, strong  colour
	faint              colour
	accent, accentSoft colour
	good, busy         colour
	warn, bad, mark    colour
	server, kind       colour
	rule               colour
	cursor, cursorOff  colour // backgrounds
	cursorText         colour
	cursorOffText      colour
	field, span        colour // backgrounds
	onAlarm, alarm     colour // text and background of [Alarm]
}

// definition is a built-in theme.
type definition struct {
	name, about string
	suits       Background
	looks       func() [roles]look
}

// builtIn are the built-in themes.
var builtIn = [...]definition{
	{"dark", "calm, the default on dark", DarkBackground, dark.looks},
	{"light", "calm, the default on light", LightBackground, light.looks},
	{"contrast-dark", "high contrast", DarkBackground, contrastDark.looks},
	{"contrast-light", "high contrast", LightBackground, contrastLight.looks},
	{"safe-dark", "for every kind of colour vision", DarkBackground, safeDark.looks},
	{"safe-light", "for every kind of colour vision", LightBackground, safeLight.looks},
	{"tide", "teal and sand", DarkBackground, tide.looks},
	{"ember", "warm, little blue light", DarkBackground, ember.looks},
	{"orchid", "violet and mint", DarkBackground, orchid.looks},
	{"paper", "ink on paper", LightBackground, paper.looks},
	{"meadow", "green and clay", LightBackground, meadow.looks},
	{"ansi16", "the terminal's own sixteen colours", DarkBackground, ansi16.looks},
	{"ansi16-light", "sixteen colours on light", LightBackground, ansi16Light},
	{"none", "no colours, attributes only", AnyBackground, none},
}

var dark = palette{
	text: tint(0xd5d9e0, 253, 7), dim: tint(0xaab2bf, 249, 7), faint: tint(0x8c96a5, 246, 8), strong: tint(0xffffff, 231, 15),
	accent: tint(0x8fb8ff, 111, 12), accentSoft: tint(0x7aa2ec, 111, 12), good: tint(0x7fd88f, 114, 10), busy: tint(0x7cc7e8, 117, 14),
	warn: tint(0xf0c674, 222, 11), bad: tint(0xff8f87, 210, 9), mark: tint(0xffa657, 215, 13),
	server: tint(0xa0b8df, 110, 14), kind: tint(0xb3a9c9, 146, 13), rule: tint(0x6d788c, 243, 8),
	cursor: tint(0x4f76ba, 110, 12), cursorText: tint(0xffffff, 233, 0), cursorOff: tint(0x6f7686, 243, 8), cursorOffText: tint(0xffffff, 231, 15),
	field: tint(0x232936, 235, 8), span: tint(0x3f3320, 236, 3), onAlarm: tint(0x1b1b1b, 234, 0), alarm: tint(0xf0c674, 222, 11),
}

var light = palette{
	text: tint(0x24292f, 235, 0), dim: tint(0x4f5761, 240, 8), faint: tint(0x666d76, 242, 8), strong: tint(0x000000, 16, 0),
	accent: tint(0x0a4fb3, 26, 4), accentSoft: tint(0x2f66b5, 25, 4), good: tint(0x116329, 22, 2), busy: tint(0x0b5f7c, 24, 6),
	warn: tint(0x7d5100, 94, 3), bad: tint(0xb3201b, 124, 1), mark: tint(0x9a3800, 88, 5),
	server: tint(0x3655a4, 25, 4), kind: tint(0x6c5490, 61, 5), rule: tint(0x808995, 102, 8),
	cursor: tint(0x0a4daf, 26, 4), cursorText: tint(0xffffff, 231, 15), cursorOff: tint(0x84889c, 245, 7), cursorOffText: tint(0x000000, 16, 0),
	field: tint(0xeef1f5, 255, 7), span: tint(0xffe9bf, 223, 11), onAlarm: tint(0xffffff, 231, 15), alarm: tint(0x7d5100, 94, 1),
}

var contrastDark = palette{
	text: tint(0xffffff, 231, 7), dim: tint(0xd0d0d0, 252, 7), faint: tint(0xbcbcbc, 250, 8), strong: tint(0xffffff, 231, 15),
	accent: tint(0x00ffff, 51, 14), accentSoft: tint(0x00ffff, 51, 14), good: tint(0x00ff66, 47, 10), busy: tint(0x66d9ff, 81, 14),
	warn: tint(0xffff00, 226, 11), bad: tint(0xff9a9a, 210, 9), mark: tint(0xffb000, 214, 13),
	server: tint(0x99e6ff, 117, 14), kind: tint(0xffccff, 225, 13), rule: tint(0xffffff, 231, 8),
	cursor: tint(0xffff00, 226, 14), cursorText: tint(0x000000, 16, 0), cursorOff: tint(0x657a7a, 243, 8), cursorOffText: tint(0xffffff, 231, 15),
	field: tint(0x333333, 236, 8), span: tint(0x442a00, 52, 3), onAlarm: tint(0x000000, 16, 0), alarm: tint(0xffff00, 226, 11),
}

var contrastLight = palette{
	text: tint(0x000000, 16, 0), dim: tint(0x303030, 236, 8), faint: tint(0x454545, 238, 8), strong: tint(0x000000, 16, 0),
	accent: tint(0x00238f, 17, 4), accentSoft: tint(0x00238f, 17, 4), good: tint(0x004a12, 22, 2), busy: tint(0x003f5c, 24, 6),
	warn: tint(0x5a3600, 94, 3), bad: tint(0x8f0000, 88, 1), mark: tint(0x6e2200, 52, 5),
	server: tint(0x00238f, 17, 4), kind: tint(0x4b0082, 54, 5), rule: tint(0x000000, 16, 8),
	cursor: tint(0x00238f, 17, 4), cursorText: tint(0xffffff, 231, 15), cursorOff: tint(0x878896, 245, 7), cursorOffText: tint(0x000000, 16, 0),
	field: tint(0xeaeaea, 255, 7), span: tint(0xffe08a, 222, 11), onAlarm: tint(0xffffff, 231, 15), alarm: tint(0x8f0000, 88, 1),
}

// In the safe themes good, warn and bad differ between blue and yellow and in lightness, which
// people with protanopia and deuteranopia see.
var safeDark = palette{
	text: tint(0xe2e4e8, 254, 7), dim: tint(0xabb1bd, 249, 7), faint: tint(0x8f95a1, 246, 8), strong: tint(0xffffff, 231, 15),
	accent: tint(0x8fc7ff, 153, 14), accentSoft: tint(0x6fa9e3, 110, 14), good: tint(0x63a9f0, 75, 12), busy: tint(0xb9c4d6, 251, 7),
	warn: tint(0xf7e26b, 221, 11), bad: tint(0xf08a3c, 215, 9), mark: tint(0xffc46b, 215, 13),
	server: tint(0x99badb, 110, 14), kind: tint(0xbca8b8, 145, 13), rule: tint(0x6e788a, 243, 8),
	cursor: tint(0x7da5d1, 110, 14), cursorText: tint(0x0b0f14, 233, 0), cursorOff: tint(0x6e7682, 243, 8), cursorOffText: tint(0xffffff, 231, 15),
	field: tint(0x242a35, 235, 8), span: tint(0x3a3218, 236, 3), onAlarm: tint(0x111111, 233, 0), alarm: tint(0xf7e26b, 221, 11),
}

var safeLight = palette{
	text: tint(0x20252b, 235, 0), dim: tint(0x4f5761, 240, 8), faint: tint(0x666d76, 242, 8), strong: tint(0x000000, 16, 0),
	accent: tint(0x00508f, 25, 4), accentSoft: tint(0x0a63a8, 25, 4), good: tint(0x0059b3, 25, 4), busy: tint(0x50606f, 59, 8),
	warn: tint(0x776600, 58, 3), bad: tint(0x7a1a00, 88, 1), mark: tint(0x803500, 88, 5),
	server: tint(0x3a5a88, 60, 4), kind: tint(0x76556c, 96, 5), rule: tint(0x7f8994, 102, 8),
	cursor: tint(0x175490, 25, 4), cursorText: tint(0xffffff, 231, 15), cursorOff: tint(0x858994, 245, 7), cursorOffText: tint(0x000000, 16, 0),
	field: tint(0xeef1f5, 255, 7), span: tint(0xfff0b8, 230, 11), onAlarm: tint(0xffffff, 231, 15), alarm: tint(0x6a5a00, 58, 1),
}

var tide = palette{
	text: tint(0xd3e0e0, 253, 7), dim: tint(0xa3b5b5, 249, 7), faint: tint(0x85999a, 246, 8), strong: tint(0xf4fffd, 231, 15),
	accent: tint(0x5fd3c4, 80, 14), accentSoft: tint(0x45ab9f, 37, 14), good: tint(0x8fdc9a, 114, 10), busy: tint(0x7ec8e3, 117, 12),
	warn: tint(0xe9c98a, 222, 11), bad: tint(0xf59080, 210, 9), mark: tint(0xf0b267, 215, 13),
	server: tint(0x88c1bc, 109, 12), kind: tint(0xb6ad99, 145, 13), rule: tint(0x5f7d7f, 66, 8),
	cursor: tint(0x5eb0a5, 73, 14), cursorText: tint(0x0b0f14, 233, 0), cursorOff: tint(0x687976, 243, 8), cursorOffText: tint(0xffffff, 231, 15),
	field: tint(0x1f2d30, 235, 8), span: tint(0x3b331f, 236, 3), onAlarm: tint(0x10201f, 234, 0), alarm: tint(0xe9c98a, 222, 11),
}

var ember = palette{
	text: tint(0xe8dccb, 253, 7), dim: tint(0xbeaf9e, 249, 7), faint: tint(0xa3927e, 246, 8), strong: tint(0xfff6e6, 231, 15),
	accent: tint(0xf2a65a, 215, 11), accentSoft: tint(0xc9883f, 215, 11), good: tint(0xb5c96a, 150, 10), busy: tint(0xd9b98a, 180, 14),
	warn: tint(0xf4d35e, 221, 3), bad: tint(0xff8a70, 209, 9), mark: tint(0xffb454, 215, 13),
	server: tint(0xd5b08f, 180, 14), kind: tint(0xc7a5a8, 181, 13), rule: tint(0x857563, 243, 8),
	cursor: tint(0xd2955e, 173, 11), cursorText: tint(0x0b0f14, 233, 0), cursorOff: tint(0x827369, 243, 8), cursorOffText: tint(0xffffff, 231, 15),
	field: tint(0x2e2620, 235, 8), span: tint(0x45361a, 237, 3), onAlarm: tint(0x21160a, 234, 0), alarm: tint(0xf4d35e, 221, 11),
}

var orchid = palette{
	text: tint(0xdedbea, 253, 7), dim: tint(0xb3aec7, 146, 7), faint: tint(0x9792ac, 146, 8), strong: tint(0xffffff, 231, 15),
	accent: tint(0xc6a3ff, 183, 13), accentSoft: tint(0xa582e8, 141, 13), good: tint(0x86e0b3, 115, 10), busy: tint(0x8ec9ff, 153, 14),
	warn: tint(0xf5d08a, 222, 11), bad: tint(0xff8fab, 211, 9), mark: tint(0xffae6d, 215, 11),
	server: tint(0xaeb4e0, 146, 14), kind: tint(0x97b4aa, 109, 10), rule: tint(0x7a7394, 103, 8),
	cursor: tint(0xb194e0, 140, 13), cursorText: tint(0x0b0f14, 233, 0), cursorOff: tint(0x797286, 243, 8), cursorOffText: tint(0xffffff, 231, 15),
	field: tint(0x29253a, 235, 8), span: tint(0x44331f, 237, 3), onAlarm: tint(0x1c1526, 234, 0), alarm: tint(0xf5d08a, 222, 11),
}

var paper = palette{
	text: tint(0x332c24, 236, 0), dim: tint(0x5f5447, 240, 8), faint: tint(0x736b60, 242, 8), strong: tint(0x140f08, 233, 0),
	accent: tint(0x8a2f1d, 52, 1), accentSoft: tint(0xa0492f, 131, 1), good: tint(0x3a5f0b, 22, 2), busy: tint(0x2b5b78, 24, 6),
	warn: tint(0x7d5200, 94, 3), bad: tint(0xa61b1b, 88, 1), mark: tint(0x8f3a00, 88, 5),
	server: tint(0x485a79, 60, 4), kind: tint(0x705773, 96, 5), rule: tint(0x908678, 102, 8),
	cursor: tint(0x8c372a, 52, 1), cursorText: tint(0xffffff, 231, 15), cursorOff: tint(0x938685, 245, 7), cursorOffText: tint(0x000000, 16, 0),
	field: tint(0xf3ecdd, 255, 7), span: tint(0xffe7b0, 223, 11), onAlarm: tint(0xffffff, 231, 15), alarm: tint(0xa61b1b, 88, 1),
}

var meadow = palette{
	text: tint(0x24302a, 236, 0), dim: tint(0x4c5952, 240, 8), faint: tint(0x636f68, 242, 8), strong: tint(0x07140d, 233, 0),
	accent: tint(0x14663f, 23, 2), accentSoft: tint(0x2b7a53, 29, 2), good: tint(0x1b6427, 22, 2), busy: tint(0x1c5f73, 24, 6),
	warn: tint(0x785300, 94, 3), bad: tint(0xa52a1e, 88, 1), mark: tint(0x8f3d00, 88, 5),
	server: tint(0x3b6055, 23, 4), kind: tint(0x7c564d, 95, 5), rule: tint(0x7c8b82, 102, 8),
	cursor: tint(0x125e3a, 23, 2), cursorText: tint(0xffffff, 231, 15), cursorOff: tint(0x838b86, 245, 7), cursorOffText: tint(0x000000, 16, 0),
	field: tint(0xedf4ee, 255, 7), span: tint(0xfbeab8, 230, 11), onAlarm: tint(0xffffff, 231, 15), alarm: tint(0x785300, 94, 1),
}

// ansi16 uses those of the terminal's own sixteen colours that are readable on black.
var ansi16 = palette{
	accent: basic(6), accentSoft: basic(6),
	good: basic(2), busy: basic(6), warn: basic(11), bad: basic(9), mark: basic(13),
	server: basic(14), kind: basic(13), rule: basic(8),
	onAlarm: basic(0), alarm: basic(11),
}

// ansi16Light uses those that are readable on white: red, blue and magenta. Many terminals show
// bold text in the bright colour, and of those only blue is.
func ansi16Light() [roles]look {
	l := palette{
		accent: basic(4), accentSoft: basic(4),
		good: basic(4), busy: basic(4), warn: basic(5), bad: basic(1), mark: basic(5),
		server: basic(4), kind: basic(5), rule: basic(8),
		onAlarm: basic(15), alarm: basic(1),
	}.looks()
	for _, r := range []Role{Warn, Gap, Bad, Critical} {
		l[r].attrs &^= bold
	}
	return l
}

func (p palette) looks() [roles]look {
	l := [roles]look{
		Plain:    {text: p.text},
		Dim:      {text: p.dim},
		Faint:    {text: p.faint},
		Strong:   {text: p.strong, attrs: bold},
		Brand:    {text: p.accent, attrs: bold},
		Title:    {text: p.dim},
		TitleOn:  {text: p.accent, attrs: bold},
		Rule:     {text: p.rule},
		RuleOn:   {text: p.accentSoft},
		Backdrop: {text: p.rule},
		Cursor:   {text: p.cursorText, back: p.cursor}, CursorOff: {text: p.cursorOffText, back: p.cursorOff},
		Good:   {text: p.good},
		Busy:   {text: p.busy},
		Warn:   {text: p.warn, attrs: bold},
		Bad:    {text: p.bad, attrs: bold},
		Gap:    {text: p.warn, attrs: bold},
		Mark:   {text: p.mark, attrs: underline},
		Span:   {text: p.strong, back: p.span, attrs: italic},
		SpanOn: {attrs: bold | underline | reverse}, SpanMark: {text: p.mark, back: p.span, attrs: italic | underline},
		Gutter: {text: p.warn},
		Server: {text: p.server},
		Type:   {text: p.kind},
		Key:    {text: p.accent, attrs: bold},
		Field:  {text: p.text, back: p.field}, FieldOn: {text: p.strong, back: p.field, attrs: bold},
		Off:    {text: p.dim, attrs: italic},
		Alarm:  {text: p.onAlarm, back: p.alarm},
		Number: {text: p.accent}, Literal: {text: p.kind}, Chart: {text: p.accentSoft},
		Critical: {text: p.bad, attrs: bold | reverse},
	}
	if p.dim == 0 { // none of sixteen is readable and dim on every background
		l[Dim], l[Faint], l[Title] = look{attrs: faint}, look{attrs: faint}, look{attrs: faint}
		l[Off], l[Backdrop] = look{attrs: faint | italic}, look{attrs: faint}
	}
	if p.cursor == 0 {
		l[Cursor], l[CursorOff] = look{attrs: reverse}, look{attrs: underline}
	}
	if p.span == 0 {
		l[Span], l[SpanMark] = look{attrs: reverse}, look{attrs: underline | reverse}
	}
	if p.field == 0 {
		l[FieldOn] = look{attrs: underline}
	}
	return l
}

// none has attributes only.
func none() [roles]look {
	return [roles]look{
		Dim: {attrs: faint}, Faint: {attrs: faint}, Strong: {attrs: bold}, Brand: {attrs: bold}, TitleOn: {attrs: bold | reverse}, RuleOn: {attrs: bold}, Backdrop: {attrs: faint},
		Cursor: {attrs: reverse}, CursorOff: {attrs: underline},
		Warn: {attrs: bold}, Bad: {attrs: bold | underline}, Gap: {attrs: bold}, Mark: {attrs: bold | underline},
		Span: {attrs: reverse}, SpanMark: {attrs: underline | reverse}, SpanOn: {attrs: bold | underline | reverse},
		Gutter: {attrs: bold}, Key: {attrs: bold}, FieldOn: {attrs: underline}, Off: {attrs: faint}, Alarm: {attrs: reverse}, Critical: {attrs: bold | reverse},
	}
}
