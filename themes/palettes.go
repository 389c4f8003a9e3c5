package themes

// palette is what a theme chooses; looks derives the roles from it.
type palette struct {
	text, dim, strong  colour
	accent, accentSoft colour
	good, busy         colour
	warn, bad, mark    colour
	server, kind       colour
	rule               colour
	cursor, cursorOff  colour // backgrounds
	cursorText         colour
	field, span        colour // backgrounds
	onAlarm, alarm     colour // text and background of a line that wants attention
}

// definition is a theme of the program.
type definition struct {
	name, about string
	suits       Background
	looks       func() [roles]look
}

// builtIn are the themes of the program.
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
	{"ansi16", "the terminal's own sixteen colours", AnyBackground, ansi16.looks},
	{"none", "no colours, attributes only", AnyBackground, none},
}

var dark = palette{
	text: rgb(0xd5d9e0), dim: rgb(0x9aa4b5), strong: rgb(0xffffff),
	accent: rgb(0x8fb8ff), accentSoft: rgb(0x7aa2ec),
	good: rgb(0x7fd88f), busy: rgb(0x7cc7e8), warn: rgb(0xf0c674), bad: rgb(0xff8f87), mark: rgb(0xffa657),
	server: rgb(0xa5c8ff), kind: rgb(0xc9b6f2), rule: rgb(0x78849a),
	cursor: rgb(0x2b4a7d), cursorOff: rgb(0x333b49), cursorText: rgb(0xffffff),
	field: rgb(0x232936), span: rgb(0x3f3320), onAlarm: rgb(0x1b1b1b), alarm: rgb(0xf0c674),
}

var light = palette{
	text: rgb(0x24292f), dim: rgb(0x59616c), strong: rgb(0x000000),
	accent: rgb(0x0a4fb3), accentSoft: rgb(0x2f66b5),
	good: rgb(0x116329), busy: rgb(0x0b5f7c), warn: rgb(0x7d5100), bad: rgb(0xb3201b), mark: rgb(0x9a3800),
	server: rgb(0x0a4fb3), kind: rgb(0x6b32a8), rule: rgb(0x7f8894),
	cursor: rgb(0xbcd6ff), cursorOff: rgb(0xe0e5ec), cursorText: rgb(0x000000),
	field: rgb(0xeef1f5), span: rgb(0xffe9bf), onAlarm: rgb(0xffffff), alarm: rgb(0x7d5100),
}

var contrastDark = palette{
	text: rgb(0xffffff), dim: rgb(0xd0d0d0), strong: rgb(0xffffff),
	accent: rgb(0x00ffff), accentSoft: rgb(0x00ffff),
	good: rgb(0x00ff66), busy: rgb(0x66d9ff), warn: rgb(0xffff00), bad: rgb(0xff9a9a), mark: rgb(0xffb000),
	server: rgb(0x99e6ff), kind: rgb(0xffccff), rule: rgb(0xffffff),
	cursor: rgb(0xffff00), cursorOff: rgb(0x3c3c3c), cursorText: rgb(0x000000),
	field: rgb(0x333333), span: rgb(0x442a00), onAlarm: rgb(0x000000), alarm: rgb(0xffff00),
}

var contrastLight = palette{
	text: rgb(0x000000), dim: rgb(0x303030), strong: rgb(0x000000),
	accent: rgb(0x00238f), accentSoft: rgb(0x00238f),
	good: rgb(0x004a12), busy: rgb(0x003f5c), warn: rgb(0x5a3600), bad: rgb(0x8f0000), mark: rgb(0x6e2200),
	server: rgb(0x00238f), kind: rgb(0x4b0082), rule: rgb(0x000000),
	cursor: rgb(0x00238f), cursorOff: rgb(0xd8d8d8), cursorText: rgb(0xffffff),
	field: rgb(0xeaeaea), span: rgb(0xffe08a), onAlarm: rgb(0xffffff), alarm: rgb(0x8f0000),
}

// The safe themes keep good, warn and bad apart along blue to yellow and by
// lightness, which protanopia and deuteranopia leave alone.
var safeDark = palette{
	text: rgb(0xe2e4e8), dim: rgb(0xa2a9b6), strong: rgb(0xffffff),
	accent: rgb(0x8fc7ff), accentSoft: rgb(0x6fa9e3),
	good: rgb(0x63a9f0), busy: rgb(0xb9c4d6), warn: rgb(0xf7e26b), bad: rgb(0xf08a3c), mark: rgb(0xffc46b),
	server: rgb(0x9fd0ff), kind: rgb(0xe0b8d8), rule: rgb(0x7b869a),
	cursor: rgb(0x1f4e79), cursorOff: rgb(0x333b49), cursorText: rgb(0xffffff),
	field: rgb(0x242a35), span: rgb(0x3a3218), onAlarm: rgb(0x111111), alarm: rgb(0xf7e26b),
}

var safeLight = palette{
	text: rgb(0x20252b), dim: rgb(0x565e69), strong: rgb(0x000000),
	accent: rgb(0x00508f), accentSoft: rgb(0x0a63a8),
	good: rgb(0x0059b3), busy: rgb(0x50606f), warn: rgb(0x776600), bad: rgb(0x7a1a00), mark: rgb(0x803500),
	server: rgb(0x00508f), kind: rgb(0x7a2c68), rule: rgb(0x7d8793),
	cursor: rgb(0xb8d9f5), cursorOff: rgb(0xdfe5ec), cursorText: rgb(0x000000),
	field: rgb(0xeef1f5), span: rgb(0xfff0b8), onAlarm: rgb(0xffffff), alarm: rgb(0x6a5a00),
}

var tide = palette{
	text: rgb(0xd3e0e0), dim: rgb(0x93a9aa), strong: rgb(0xf4fffd),
	accent: rgb(0x5fd3c4), accentSoft: rgb(0x45ab9f),
	good: rgb(0x8fdc9a), busy: rgb(0x7ec8e3), warn: rgb(0xe9c98a), bad: rgb(0xf59080), mark: rgb(0xf0b267),
	server: rgb(0x7fd8d0), kind: rgb(0xe3cfa2), rule: rgb(0x6a8b8d),
	cursor: rgb(0x11565a), cursorOff: rgb(0x2a3a3d), cursorText: rgb(0xffffff),
	field: rgb(0x1f2d30), span: rgb(0x3b331f), onAlarm: rgb(0x10201f), alarm: rgb(0xe9c98a),
}

var ember = palette{
	text: rgb(0xe8dccb), dim: rgb(0xb3a18b), strong: rgb(0xfff6e6),
	accent: rgb(0xf2a65a), accentSoft: rgb(0xc9883f),
	good: rgb(0xb5c96a), busy: rgb(0xd9b98a), warn: rgb(0xf4d35e), bad: rgb(0xff8a70), mark: rgb(0xffb454),
	server: rgb(0xf0bd8a), kind: rgb(0xe0a3a8), rule: rgb(0x968470),
	cursor: rgb(0x6b3f16), cursorOff: rgb(0x3d3229), cursorText: rgb(0xfffaf0),
	field: rgb(0x2e2620), span: rgb(0x45361a), onAlarm: rgb(0x21160a), alarm: rgb(0xf4d35e),
}

var orchid = palette{
	text: rgb(0xdedbea), dim: rgb(0xa9a3c0), strong: rgb(0xffffff),
	accent: rgb(0xc6a3ff), accentSoft: rgb(0xa582e8),
	good: rgb(0x86e0b3), busy: rgb(0x8ec9ff), warn: rgb(0xf5d08a), bad: rgb(0xff8fab), mark: rgb(0xffae6d),
	server: rgb(0xb9c2ff), kind: rgb(0x9fe3cd), rule: rgb(0x8a82a6),
	cursor: rgb(0x4a3480), cursorOff: rgb(0x383348), cursorText: rgb(0xffffff),
	field: rgb(0x29253a), span: rgb(0x44331f), onAlarm: rgb(0x1c1526), alarm: rgb(0xf5d08a),
}

var paper = palette{
	text: rgb(0x332c24), dim: rgb(0x655a4c), strong: rgb(0x140f08),
	accent: rgb(0x8a2f1d), accentSoft: rgb(0xa0492f),
	good: rgb(0x3a5f0b), busy: rgb(0x2b5b78), warn: rgb(0x7d5200), bad: rgb(0xa61b1b), mark: rgb(0x8f3a00),
	server: rgb(0x284b7a), kind: rgb(0x74407a), rule: rgb(0x8a7f6f),
	cursor: rgb(0xf0d9b0), cursorOff: rgb(0xebe3d3), cursorText: rgb(0x140f08),
	field: rgb(0xf3ecdd), span: rgb(0xffe7b0), onAlarm: rgb(0xffffff), alarm: rgb(0xa61b1b),
}

var meadow = palette{
	text: rgb(0x24302a), dim: rgb(0x55635b), strong: rgb(0x07140d),
	accent: rgb(0x14663f), accentSoft: rgb(0x2b7a53),
	good: rgb(0x1b6427), busy: rgb(0x1c5f73), warn: rgb(0x785300), bad: rgb(0xa52a1e), mark: rgb(0x8f3d00),
	server: rgb(0x0f5c4a), kind: rgb(0x8a3f23), rule: rgb(0x77877d),
	cursor: rgb(0xc6e7cf), cursorOff: rgb(0xe0eae2), cursorText: rgb(0x07140d),
	field: rgb(0xedf4ee), span: rgb(0xfbeab8), onAlarm: rgb(0xffffff), alarm: rgb(0x785300),
}

// ansi16 uses the terminal's own sixteen colours, whatever they are.
var ansi16 = palette{
	dim: basic(8), accent: basic(6), accentSoft: basic(6),
	good: basic(2), busy: basic(6), warn: basic(3), bad: basic(1), mark: basic(5),
	server: basic(4), kind: basic(5), rule: basic(8),
	onAlarm: basic(0), alarm: basic(3),
}

func (p palette) looks() [roles]look {
	l := [roles]look{
		Plain:   {text: p.text},
		Dim:     {text: p.dim},
		Strong:  {text: p.strong, attrs: bold},
		Brand:   {text: p.accent, attrs: bold},
		Title:   {text: p.dim},
		TitleOn: {text: p.accent, attrs: bold},
		Rule:    {text: p.rule},
		RuleOn:  {text: p.accentSoft},
		Cursor:  {text: p.cursorText, back: p.cursor}, CursorOff: {text: p.text, back: p.cursorOff},
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
		Off:   {text: p.dim, attrs: italic},
		Alarm: {text: p.onAlarm, back: p.alarm},
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
		Dim: {attrs: faint}, Strong: {attrs: bold}, Brand: {attrs: bold}, TitleOn: {attrs: bold | reverse}, RuleOn: {attrs: bold},
		Cursor: {attrs: reverse}, CursorOff: {attrs: underline},
		Warn: {attrs: bold}, Bad: {attrs: bold | underline}, Gap: {attrs: bold}, Mark: {attrs: bold | underline},
		Span: {attrs: reverse}, SpanMark: {attrs: underline | reverse}, SpanOn: {attrs: bold | underline | reverse},
		Gutter: {attrs: bold}, Key: {attrs: bold}, FieldOn: {attrs: underline}, Off: {attrs: faint}, Alarm: {attrs: reverse},
	}
}
