package themes

// palette is what a theme chooses; looks derives the roles from it.
type palette struct {
	text, dim, strong  string // foregrounds
	accent, accentSoft string
	good, busy         string
	warn, bad, mark    string
	server, kind       string
	rule               string
	cursor, cursorOff  string // backgrounds
	cursorText         string
	field, span        string // backgrounds
	onAlarm, alarm     string // text and background of a line that wants attention
}

var dark = palette{
	text: fg(0xd5d9e0), dim: fg(0x7d8799), strong: fg(0xffffff),
	accent: fg(0x8fb8ff), accentSoft: fg(0x5f8ad6),
	good: fg(0x7fd88f), busy: fg(0x7cc7e8), warn: fg(0xf0c674), bad: fg(0xff7b72), mark: fg(0xffa657),
	server: fg(0xa5c8ff), kind: fg(0xc9b6f2), rule: fg(0x3d4657),
	cursor: bg(0x2b4a7d), cursorOff: bg(0x2a303c), cursorText: fg(0xffffff),
	field: bg(0x232936), span: bg(0x3f3320), onAlarm: fg(0x1b1b1b), alarm: bg(0xf0c674),
}

var light = palette{
	text: fg(0x24292f), dim: fg(0x656d78), strong: fg(0x000000),
	accent: fg(0x0a4fb3), accentSoft: fg(0x3b73c4),
	good: fg(0x116329), busy: fg(0x0b6b8a), warn: fg(0x8a5a00), bad: fg(0xb3201b), mark: fg(0xa03a00),
	server: fg(0x0a4fb3), kind: fg(0x6b32a8), rule: fg(0xb8c0cc),
	cursor: bg(0xbcd6ff), cursorOff: bg(0xe4e8ee), cursorText: fg(0x000000),
	field: bg(0xeef1f5), span: bg(0xffe9bf), onAlarm: fg(0xffffff), alarm: bg(0x8a5a00),
}

var contrast = palette{
	text: fg(0xffffff), dim: fg(0xd0d0d0), strong: fg(0xffffff),
	accent: fg(0x00ffff), accentSoft: fg(0x00ffff),
	good: fg(0x00ff66), busy: fg(0x66d9ff), warn: fg(0xffff00), bad: fg(0xff8080), mark: fg(0xffb000),
	server: fg(0x99e6ff), kind: fg(0xffccff), rule: fg(0xffffff),
	cursor: bg(0xffff00), cursorOff: bg(0x444444), cursorText: fg(0x000000),
	field: bg(0x333333), span: bg(0x553300), onAlarm: fg(0x000000), alarm: bg(0xffff00),
}

// ansi16 uses the terminal's own sixteen colours, whatever they are.
var ansi16 = palette{
	dim: "90", accent: "36", accentSoft: "36",
	good: "32", busy: "36", warn: "33", bad: "31", mark: "35",
	server: "34", kind: "35", rule: "90",
	onAlarm: "30", alarm: "43",
}

func (p palette) looks() [roles]look {
	var l [roles]look
	l[Plain] = look{fg: p.text}
	l[Dim] = look{fg: p.dim}
	l[Strong] = look{fg: p.strong, attrs: "1"}
	l[Brand] = look{fg: p.accent, attrs: "1"}
	l[Title] = look{fg: p.dim}
	l[TitleOn] = look{fg: p.accent, attrs: "1"}
	l[Rule] = look{fg: p.rule}
	l[RuleOn] = look{fg: p.accentSoft}
	l[Cursor] = look{fg: p.cursorText, bg: p.cursor}
	l[CursorOff] = look{fg: p.text, bg: p.cursorOff}
	if p.cursor == "" {
		l[Cursor] = look{attrs: "7"}
		l[CursorOff] = look{attrs: "4"}
	}
	l[Good] = look{fg: p.good}
	l[Busy] = look{fg: p.busy}
	l[Warn] = look{fg: p.warn, attrs: "1"}
	l[Bad] = look{fg: p.bad, attrs: "1"}
	l[Gap] = look{fg: p.warn, attrs: "1"}
	l[Mark] = look{fg: p.mark, attrs: "4"}
	l[Span] = look{fg: p.strong, bg: p.span, attrs: "3"}
	l[SpanMark] = look{fg: p.mark, bg: p.span, attrs: "3;4"}
	l[SpanOn] = look{attrs: "1;4;7"}
	if p.span == "" {
		l[Span] = look{attrs: "7"}
		l[SpanMark] = look{attrs: "4;7"}
	}
	l[Gutter] = look{fg: p.warn}
	l[Server] = look{fg: p.server}
	l[Type] = look{fg: p.kind}
	l[Key] = look{fg: p.accent, attrs: "1"}
	l[Field] = look{fg: p.text, bg: p.field}
	l[FieldOn] = look{fg: p.strong, bg: p.field, attrs: "1"}
	if p.field == "" {
		l[FieldOn] = look{attrs: "4"}
	}
	l[Off] = look{fg: p.dim, attrs: "2"}
	l[Alarm] = look{fg: p.onAlarm, bg: p.alarm}
	return l
}

// none has attributes only.
func none() [roles]look {
	var l [roles]look
	for r, attrs := range map[Role]string{
		Dim: "2", Strong: "1", Brand: "1", TitleOn: "1;7", RuleOn: "1",
		Cursor: "7", CursorOff: "4", Warn: "1", Bad: "1;4", Gap: "1", Mark: "1;4",
		Span: "7", SpanMark: "4;7", SpanOn: "1;4;7",
		Gutter: "1", Key: "1", FieldOn: "4", Off: "2", Alarm: "7",
	} {
		l[r] = look{attrs: attrs}
	}
	return l
}
