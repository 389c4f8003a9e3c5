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

// builtIn are the built-in themes. In those of their own colours, good, busy, warn and bad differ for every
// kind of colour vision.
var builtIn = [...]definition{
	{"dark", "calm, the default on dark", DarkBackground, dark.looks},
	{"light", "calm, the default on light", LightBackground, light.looks},
	{"contrast-dark", "high contrast", DarkBackground, contrastDark.looks},
	{"contrast-light", "high contrast", LightBackground, contrastLight.looks},
	{"ansi16", "the terminal's own sixteen colours", DarkBackground, ansi16.looks},
	{"ansi16-light", "sixteen colours on light", LightBackground, ansi16Light},
	{"none", "no colours, attributes only", AnyBackground, none},
}

var dark = palette{
	text: tint(0xd5d9e0, 253, 7), dim: tint(0xaab2bf, 249, 7), faint: tint(0x8c96a5, 246, 8), strong: tint(0xffffff, 231, 15),
	accent: tint(0x8fb8ff, 111, 12), accentSoft: tint(0x7aa2ec, 111, 12), good: tint(0x80e3a3, 114, 10), busy: tint(0x4fb7d8, 117, 14),
	warn: tint(0xf1c876, 222, 11), bad: tint(0xfb887a, 210, 9), mark: tint(0xffa657, 215, 13),
	server: tint(0xa0b8df, 110, 14), kind: tint(0xb3a9c9, 146, 13), rule: tint(0x6d788c, 243, 8),
	cursor: tint(0x4f76ba, 110, 12), cursorText: tint(0xffffff, 233, 0), cursorOff: tint(0x6f7686, 243, 8), cursorOffText: tint(0xffffff, 231, 15),
	field: tint(0x232936, 235, 8), span: tint(0x3f3320, 236, 3), onAlarm: tint(0x1b1b1b, 234, 0), alarm: tint(0xf0c674, 222, 11),
}

var light = palette{
	text: tint(0x24292f, 235, 0), dim: tint(0x4f5761, 240, 8), faint: tint(0x666d76, 242, 8), strong: tint(0x000000, 16, 0),
	accent: tint(0x0a4fb3, 26, 4), accentSoft: tint(0x2f66b5, 25, 4), good: tint(0x406935, 22, 2), busy: tint(0x00627f, 24, 6),
	warn: tint(0x855807, 94, 3), bad: tint(0x81110d, 124, 1), mark: tint(0x9a3800, 88, 5),
	server: tint(0x3655a4, 25, 4), kind: tint(0x6c5490, 61, 5), rule: tint(0x808995, 102, 8),
	cursor: tint(0x0a4daf, 26, 4), cursorText: tint(0xffffff, 231, 15), cursorOff: tint(0x84889c, 245, 7), cursorOffText: tint(0x000000, 16, 0),
	field: tint(0xeef1f5, 255, 7), span: tint(0xffe9bf, 223, 11), onAlarm: tint(0xffffff, 231, 15), alarm: tint(0x7d5100, 94, 1),
}

var contrastDark = palette{
	text: tint(0xffffff, 231, 7), dim: tint(0xd0d0d0, 252, 7), faint: tint(0xbcbcbc, 250, 8), strong: tint(0xffffff, 231, 15),
	accent: tint(0x00ffff, 51, 14), accentSoft: tint(0x00ffff, 51, 14), good: tint(0x0eff66, 47, 10), busy: tint(0x82c9ec, 81, 14),
	warn: tint(0xffff0e, 226, 11), bad: tint(0xff9c9d, 210, 9), mark: tint(0xffb000, 214, 13),
	server: tint(0x99e6ff, 117, 14), kind: tint(0xffccff, 225, 13), rule: tint(0xffffff, 231, 8),
	cursor: tint(0xffff00, 226, 14), cursorText: tint(0x000000, 16, 0), cursorOff: tint(0x657a7a, 243, 8), cursorOffText: tint(0xffffff, 231, 15),
	field: tint(0x333333, 236, 8), span: tint(0x442a00, 52, 3), onAlarm: tint(0x000000, 16, 0), alarm: tint(0xffff00, 226, 11),
}

var contrastLight = palette{
	text: tint(0x000000, 16, 0), dim: tint(0x303030, 236, 8), faint: tint(0x454545, 238, 8), strong: tint(0x000000, 16, 0),
	accent: tint(0x00238f, 17, 4), accentSoft: tint(0x00238f, 17, 4), good: tint(0x3f5732, 22, 2), busy: tint(0x003f5c, 24, 6),
	warn: tint(0x4d0f02, 94, 3), bad: tint(0x900601, 88, 1), mark: tint(0x6e2200, 52, 5),
	server: tint(0x00238f, 17, 4), kind: tint(0x4b0082, 54, 5), rule: tint(0x000000, 16, 8),
	cursor: tint(0x00238f, 17, 4), cursorText: tint(0xffffff, 231, 15), cursorOff: tint(0x878896, 245, 7), cursorOffText: tint(0x000000, 16, 0),
	field: tint(0xeaeaea, 255, 7), span: tint(0xffe08a, 222, 11), onAlarm: tint(0xffffff, 231, 15), alarm: tint(0x8f0000, 88, 1),
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
