package toolbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// content is one part of a tool's result.
type content struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
	URI      string `json:"uri"`
	Resource struct {
		URI      string  `json:"uri"`
		MimeType string  `json:"mimeType"`
		Text     *string `json:"text"`
		Blob     string  `json:"blob"`
	} `json:"resource"`
}

// result converts the result of a tool to text: texts as they are, JSON as text, other content by
// type and size. Bytes beyond [react.MaxToolResult] are left out and counted.
//
// Errors: [wire.ErrMalformed]; [react.ErrToolRefused] of a tool that asks for input first.
func (b *Box) result(raw json.RawMessage) (react.ToolResult, error) {
	var r struct {
		ResultType string            `json:"resultType"`
		IsError    bool              `json:"isError"`
		Structured json.RawMessage   `json:"structuredContent"`
		Content    []json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return react.ToolResult{}, fmt.Errorf("%w: the result of the tool", wire.ErrMalformed)
	}
	if r.ResultType == "input_required" {
		return react.ToolResult{}, fmt.Errorf("%w: it asks for input, which is not given", react.ErrToolRefused)
	}
	var parts []string
	for _, one := range r.Content {
		parts = append(parts, describe(one))
	}
	if s := bytes.TrimSpace(r.Structured); len(s) > 0 && string(s) != "null" && !repeats(r.Content, s) {
		parts = append(parts, string(s))
	}
	text, cut := clip(b.o.Redact.Text(trust.Untrusted(strings.Join(parts, "\n"))).Raw(), react.MaxToolResult)
	return react.ToolResult{Content: text, Failed: r.IsError, Cut: cut}, nil
}

// repeats reports whether a text in the content repeats the structured content, as the protocol
// recommends.
func repeats(all []json.RawMessage, structured []byte) bool {
	want := trust.CompactJSON(structured)
	return slices.ContainsFunc(all, func(raw json.RawMessage) bool {
		var c content
		return json.Unmarshal(raw, &c) == nil && json.Valid([]byte(c.Text)) && bytes.Equal(trust.CompactJSON([]byte(c.Text)), want)
	})
}

// describe returns one part as text.
func describe(raw json.RawMessage) string {
	var c content
	if json.Unmarshal(raw, &c) != nil {
		return "[invalid content]"
	}
	switch c.Type {
	case "text":
		return c.Text
	case "image", "audio":
		return fmt.Sprintf("[%s, %s, %d bytes of base64]", c.Type, c.MimeType, len(c.Data))
	case "resource_link":
		return fmt.Sprintf("[resource %s]", c.URI)
	case "resource":
		if r := c.Resource; r.Text == nil {
			return fmt.Sprintf("[resource %s, %s, %d bytes of base64]", r.URI, r.MimeType, len(r.Blob))
		}
		return fmt.Sprintf("[resource %s]\n%s", c.Resource.URI, *c.Resource.Text)
	}
	return fmt.Sprintf("[content of the type %q]", c.Type)
}
