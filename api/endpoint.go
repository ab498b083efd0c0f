package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

// writeLimit bounds how long a client may take to accept an answer that is not a stream.
const writeLimit = 30 * time.Second

// request is a decoded request as a handler sees it.
type request[Body any] struct {
	caller  caller
	project domain.Project // of the path's :pid, where the route's policy is member
	agent   domain.Agent   // who asks, where the route's policy is machine
	body    Body
	http    *http.Request // for its cookies and its connection
	header  http.Header   // of the request
	reply   http.Header   // of the answer
	path    map[string]string
	query   url.Values
}

// none is the Body of a request that has none.
type none struct{}

// checked is a body that judges itself after decoding.
type checked interface{ validate() error }

// optional is a body that may be left out.
type optional interface{ mayBeEmpty() }

// binary is a body whose texts may hold any bytes.
type binary interface{ mayHoldBytes() }

// streamed is a body that reads itself, as one that is too large to be held.
type streamed interface{ read(in io.Reader) error }

// raw is an answer that is encoded already.
type raw struct {
	status int // 0: the route's
	json   []byte
}

// endpoint makes a handler of a function from a request to a value: decode, validate, call,
// encode.
func endpoint[Body, Out any](s *Server, status int, call func(context.Context, request[Body]) (Out, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		req, err := decode[Body](c)
		if err != nil {
			s.fail(c, err)
			return
		}
		out, err := call(c.Request.Context(), req)
		if err != nil {
			s.fail(c, err)
			return
		}
		s.noteAct(c)
		if done, ok := any(out).(raw); ok {
			writeRaw(c, done, status)
			return
		}
		writeJSON(c, status, out)
	}
}

func decode[Body any](c *gin.Context) (request[Body], error) {
	req := request[Body]{
		caller: callerOf(c), project: projectOf(c), agent: agentOf(c), http: c.Request, header: c.Request.Header, reply: c.Writer.Header(),
		path: make(map[string]string, len(c.Params)),
	}
	for _, p := range c.Params {
		value, err := url.PathUnescape(p.Value)
		if err != nil || !plainText(value) {
			return req, domain.Invalid(p.Key, "the path holds characters that no name has")
		}
		req.path[p.Key] = value
	}
	query, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return req, domain.Invalid("", "the query string is malformed")
	}
	for key, values := range query {
		for _, v := range values {
			if !plainText(v) {
				return req, domain.Invalid(key, "holds characters that no text has")
			}
		}
	}
	req.query = query
	if _, bodyless := any(req.body).(none); bodyless {
		return req, nil
	}
	if body, ok := any(&req.body).(streamed); ok {
		return req, body.read(c.Request.Body)
	}
	if err := decodeBody(c.Request.Body, &req.body); err != nil {
		return req, err
	}
	if v, ok := any(&req.body).(checked); ok {
		return req, v.validate()
	}
	return req, nil
}

// decodeBody reads one JSON object. Fields that body does not know are ignored, so that
// clients may be newer than the server.
func decodeBody(in io.Reader, body any) error {
	doc, err := io.ReadAll(in)
	if err != nil {
		return bodyError(err, misfit{})
	}
	if _, may := body.(binary); !may { // the parser would put other characters in the place of what it can't read
		if !utf8.Valid(doc) {
			return domain.Invalid("", "the body is not valid UTF-8")
		}
		if at := halfLetter(doc); at >= 0 {
			return domain.Invalid("", "the body has half of a character at byte %d: %s", at, doc[at:at+6])
		}
	}
	if _, may := body.(optional); may && len(bytes.TrimSpace(doc)) == 0 {
		return nil
	}
	if first := bytes.TrimLeft(doc, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return domain.Invalid("", "the body must be a JSON object")
	}
	if err := json.Unmarshal(doc, body); err != nil {
		var where misfit
		if found := locate(doc, reflect.TypeOf(body)); found != nil {
			err, where = found.err, *found
		}
		return bodyError(err, where)
	}
	return nil
}

// bodyError says what is wrong with a body, and where that is.
func bodyError(err error, where misfit) error {
	var (
		tooLarge *http.MaxBytesError
		badType  *json.UnmarshalTypeError
		syntax   *json.SyntaxError
		fault    *domain.Error // of a type that reads itself
	)
	switch {
	case errors.As(err, &fault):
		if fault.Field == "" && fault.Code == domain.CodeInvalid {
			fault = domain.Invalid(where.field, "%s", fault.Message)
		}
		return fault
	case errors.As(err, &tooLarge):
		return tooLargeBody(tooLarge.Limit)
	case errors.As(err, &badType):
		each := ""
		if where.element {
			each = "each "
		}
		return domain.Invalid(path(where.field, badType.Field), "%smust be %s, not %s", each, jsonName(badType.Type), article(badType.Value))
	case isBase64(err):
		return domain.Invalid(where.field, "must be base64")
	case errors.As(err, &syntax):
		return domain.Invalid("", "the body is not valid JSON: %s at byte %d", strings.TrimPrefix(syntax.Error(), "json: "), syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF), isTimeout(err):
		return domain.Invalid("", "the body did not arrive whole")
	}
	return domain.Wrap(domain.CodeInvalid, err, "the body could not be read")
}

func tooLargeBody(limit int64) error {
	return domain.Errorf(domain.CodeTooLarge, "the body is larger than %d bytes", limit)
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

func jsonName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[domain.SecretValue]() {
		return "a string"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// path joins the names of a field and of one inside it.
func path(outer, inner string) string { return strings.Trim(outer+"."+inner, ".") }

func article(value string) string {
	kind, text, _ := strings.Cut(value, " ")
	switch kind {
	case "number": // with its text where it is not whole, or too large
		if text != "" {
			return text
		}
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a " + kind
}

// plainText reports whether s can be stored and logged: valid UTF-8 without NUL.
func plainText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// flag reads a query parameter that is true or false; absent it is false.
func flag(query url.Values, name string) (bool, error) {
	text := query.Get(name)
	if text == "" {
		return false, nil
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		return false, domain.Invalid(name, "%q is neither true nor false", text)
	}
	return value, nil
}

func writeJSON(c *gin.Context, status int, value any) {
	writeRaw(c, raw{json: encode(value)}, status)
}

// encode renders a value of ours. A type that can't be JSON is a mistake in the code.
func encode(value any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(fmt.Sprintf("encode %T: %v", value, err))
	}
	return out.Bytes()
}

func writeRaw(c *gin.Context, answer raw, status int) {
	if answer.status != 0 {
		status = answer.status
	}
	// A client that does not read holds only its own connection, and not for ever.
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(writeLimit))
	if len(answer.json) > 0 {
		c.Writer.Header().Set("Content-Length", strconv.Itoa(len(answer.json)))
	}
	c.Writer.WriteHeader(status)
	if status == http.StatusNotModified || status == http.StatusNoContent {
		c.Writer.WriteHeaderNow()
		return
	}
	if c.Writer.Header().Get("Content-Type") == "" {
		c.Writer.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	_, _ = c.Writer.Write(answer.json) // the client may have left: there is nobody to tell
}
