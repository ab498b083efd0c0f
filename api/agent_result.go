package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// resultPost is the body of POST /agent/results. A plain agent sends its outputs whole, however
// long they are: of these no more is held than what is kept.
type resultPost struct {
	agentwire.Result
}

func (*resultPost) mayHoldBytes() {}

// read implements streamed.
func (p *resultPost) read(in io.Reader) error {
	reader := outputReader{in: bufio.NewReaderSize(in, 64<<10), outputs: map[string]*cutText{}}
	if err := reader.read(); err != nil {
		_, _ = io.Copy(io.Discard, in) // who still sends would see a reset instead of the answer
		return bodyError(err, misfit{})
	}
	if err := decodeBody(&reader.rest, p); err != nil || p.Outcome != "" {
		return err // where there is an outcome, heads and tails say it
	}
	if out := reader.outputs["stdout"]; out != nil {
		p.StdoutHead, p.StdoutTail, p.StdoutBytes = out.head, out.end(), out.bytes
	}
	if out := reader.outputs["stderr"]; out != nil {
		p.StderrHead, p.StderrTail, p.StderrBytes = out.head, out.end(), out.bytes
	}
	return nil
}

// agentResult answers POST /agent/results.
func (s *Server) agentResult(ctx context.Context, r request[resultPost]) (agentwire.ResultTaken, error) {
	err := s.AgentHub.Result(ctx, r.agent, r.body.Result)
	return agentwire.ResultTaken{OK: err == nil}, err
}

// cutText is a long text of which beginning and end are kept.
type cutText struct {
	head, tail []byte
	bytes      int64
}

func (c *cutText) add(part []byte) {
	c.bytes += int64(len(part))
	n := min(len(part), agentwire.HeadBytes-len(c.head))
	c.head = append(c.head, part[:n]...)
	c.tail = append(c.tail, part[n:]...)
	if len(c.tail) > 2*agentwire.TailBytes {
		c.tail = append(c.tail[:0], c.end()...)
	}
}

func (c *cutText) end() []byte { return c.tail[max(0, len(c.tail)-agentwire.TailBytes):] }

// outputReader reads a JSON object, whose texts "stdout" and "stderr" it takes out of it. It
// judges nothing but these: the rest is left to the parser.
type outputReader struct {
	in      *bufio.Reader
	rest    bytes.Buffer // the object with empty outputs
	outputs map[string]*cutText
	one     [1]byte
}

func (o *outputReader) read() error {
	depth, last, field := 0, "", ""
	for {
		b, err := o.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case b == '"' && depth == 1 && (field == "stdout" || field == "stderr"):
			err = o.output(field)
			field = ""
		case b == '"':
			last, err = o.copied()
		default:
			switch b {
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			case ':':
				field = last
			case ',':
				field = ""
			}
			o.rest.WriteByte(b)
		}
		if err == nil && o.rest.Len() > agentwire.MaxResult {
			err = domain.Errorf(domain.CodeTooLarge, "the body is larger than %d bytes beside stdout and stderr", agentwire.MaxResult)
		}
		if err != nil {
			return err
		}
	}
}

// copied passes a text on as it is, and gives it where it is a short one.
func (o *outputReader) copied() (string, error) {
	const short = 16
	o.rest.WriteByte('"')
	at := o.rest.Len()
	err := o.text(func(part []byte) { o.rest.Write(part) }, func() error {
		for range 2 { // the backslash, and what keeps a quote behind it from being the end
			b, err := o.in.ReadByte()
			if err != nil {
				return cutOff(err)
			}
			o.rest.WriteByte(b)
		}
		return nil
	})
	text := o.rest.Bytes()[at:]
	o.rest.WriteByte('"')
	if err != nil || len(text) > short {
		return "", err
	}
	return string(text), nil
}

// output takes a text out.
func (o *outputReader) output(field string) error {
	out := &cutText{}
	o.outputs[field] = out
	o.rest.WriteString(`""`)
	control := false
	err := o.text(func(part []byte) {
		control = control || bytes.ContainsFunc(part, func(r rune) bool { return r < ' ' })
		out.add(part)
	}, func() error { return o.escape(field, out) })
	if err == nil && control {
		return domain.Invalid(field, "holds a control character that is not escaped")
	}
	return err
}

// text reads a text behind its opening quote, in pieces without escapes.
func (o *outputReader) text(take func(part []byte), escape func() error) error {
	for {
		if _, err := o.in.Peek(1); err != nil {
			return cutOff(err)
		}
		part, _ := o.in.Peek(o.in.Buffered())
		n := 0
		for n < len(part) && part[n] != '"' && part[n] != '\\' {
			n++
		}
		take(part[:n])
		end := n < len(part) && part[n] == '"'
		escaped := n < len(part) && !end
		_, _ = o.in.Discard(n) // it is in the buffer
		switch {
		case end:
			_, err := o.in.ReadByte()
			return err
		case escaped:
			if err := escape(); err != nil {
				return err
			}
		}
		if o.rest.Len() > agentwire.MaxResult {
			return nil // too large, which who called says
		}
	}
}

// plainEscapes are the escapes of one letter; an array, for there may be many millions of them.
var plainEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape takes what an escape stands for.
func (o *outputReader) escape(field string, out *cutText) error {
	code, err := o.in.Peek(2)
	if err != nil {
		return cutOff(err)
	}
	if letter := plainEscapes[code[1]]; letter != 0 {
		_, _ = o.in.Discard(2)
		o.one[0] = letter
		out.add(o.one[:])
		return nil
	}
	r, ok, err := o.unicode()
	if err != nil {
		return cutOff(err)
	}
	if !ok {
		return domain.Invalid(field, "holds an escape that JSON has not")
	}
	_, _ = o.in.Discard(6)
	if utf16.IsSurrogate(r) {
		if second, ok, _ := o.unicode(); ok && utf16.DecodeRune(r, second) != utf8.RuneError {
			r = utf16.DecodeRune(r, second)
			_, _ = o.in.Discard(6)
		}
	}
	out.add(utf8.AppendRune(nil, r)) // half a pair alone is no character
	return nil
}

// unicode looks at what may be an escape of four digits.
func (o *outputReader) unicode() (r rune, ok bool, err error) {
	code, err := o.in.Peek(6)
	if len(code) < 2 || code[0] != '\\' || code[1] != 'u' {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	n, bad := strconv.ParseUint(string(code[2:]), 16, 16)
	return rune(n), bad == nil, nil
}

// cutOff names an end that comes amid a text.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
