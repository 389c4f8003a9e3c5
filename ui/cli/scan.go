package cli

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/host/trust/strict"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// maxScanLine is how long a line of scan's input may be, in bytes.
const maxScanLine = 8 << 20

// errLineTooLong: a line of the input has more than maxScanLine bytes.
var errLineTooLong = errors.New("line too long")

func (a *app) scanCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "scan [FILE]",
		Short: "Scan payloads and print what was noticed in each",
		Long: `scan reads one event a line, from FILE or standard input, and prints one JSON object a line: whether
it would be taken, what was noticed and where, how it would be shown, and how it is read: headline,
severity, level, status, ids, and in readFrom the path of each. {"base64": "…"} stands for
bytes that are not text. A line may have 8 MiB. Refused events are a result, not an error.`,
		Args: plain.MaximumArgs(1),
		Run: a.Run(func(_ *cobra.Command, args []string) error {
			in := a.Stdin
			if len(args) > 0 {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("scan: %w", err)
				}
				defer f.Close() // read only
				in = f
			}
			return scanPayloads(in, a.Stdout)
		}),
	}
}

// scanned is one line of the output.
type scanned struct {
	Accepted bool         `json:"accepted"`
	Error    string       `json:"error"`
	Flags    []scan.Flag  `json:"flags"`
	Badge    bool         `json:"badge"`
	Spans    []scan.Span  `json:"spans"`
	Decoded  []trust.Text `json:"decoded"`
	Lines    []string     `json:"lines"`
	Row      string       `json:"row"`
	From     readFrom     `json:"readFrom"`
	reading  reading.Reading
}

// readFrom has the paths that a reading came from, "" where there is none.
type readFrom struct {
	Headline trust.Text `json:"headline"`
	Level    trust.Text `json:"level"`
	Status   trust.Text `json:"status"`
	Time     trust.Text `json:"time"`
	Link     trust.Text `json:"link"`
}

func scanPayloads(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	w := bufio.NewWriterSize(out, program.BatchBytes)
	for n := 1; ; n++ {
		line, err := readLine(lines)
		if err == io.EOF {
			return w.Flush()
		}
		if err != nil {
			return errors.Join(fmt.Errorf("scan: line %d: %w", n, err), w.Flush())
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		answer, err := appendScanned(nil, inspect(line))
		if err != nil {
			return errors.Join(fmt.Errorf("scan: line %d: %w", n, err), w.Flush())
		}
		if _, err := w.Write(answer); err != nil {
			return err
		}
		if lines.Buffered() == 0 { // a person who types sees the answer at once
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
}

// readLine returns a line without its end; the last one may lack it.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxScanLine+2:
			return nil, fmt.Errorf("%w: more than %d bytes", errLineTooLong, maxScanLine)
		case err == nil, err == io.EOF && len(line) > 0:
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if len(line) > maxScanLine {
				return nil, fmt.Errorf("%w: more than %d bytes", errLineTooLong, maxScanLine)
			}
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func inspect(line []byte) scanned {
	in := host.Inspect(payload(line))
	s := scanned{
		Accepted: in.Refused == nil,
		Flags:    in.Report.Flags,
		Badge:    in.Report.Badge,
		Spans:    in.Report.Spans,
		Decoded:  in.Report.Decoded,
		Row:      in.Row.Plain(),
		From:     readFrom{in.Reading.Headline.Path, in.Reading.Severity.Path, in.Reading.StatusAt, in.Reading.TimeAt, in.Reading.Link.Path},
		reading:  in.Reading,
	}
	if in.Refused != nil {
		s.Error = plain.Message(in.Refused)
	}
	for _, l := range in.Lines {
		s.Lines = append(s.Lines, l.Plain())
	}
	return s
}

// payload returns the bytes that a line of the input represents.
func payload(line []byte) []byte {
	members, err := strict.ParseObject(line, strict.Limits{Bytes: maxScanLine})
	if err != nil || len(members) != 1 || members[0].Key.Raw() != "base64" {
		return line
	}
	var text string
	if json.Unmarshal(members[0].Value, &text) != nil {
		return line
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return line
	}
	return raw
}

// appendScanned appends the line, in a form that cannot act on a terminal.
func appendScanned(b []byte, s scanned) ([]byte, error) {
	if s.Flags == nil {
		s.Flags = []scan.Flag{}
	}
	if s.Spans == nil {
		s.Spans = []scan.Span{}
	}
	if s.Decoded == nil {
		s.Decoded = []trust.Text{}
	}
	if s.Lines == nil {
		s.Lines = []string{}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return b, err
	}
	b = bytes.TrimSuffix(trust.AppendCompactJSON(b, bytes.TrimSpace(buf.Bytes())), []byte("}"))
	return append(s.reading.AppendJSON(append(b, ',')), "}\n"...), nil
}
