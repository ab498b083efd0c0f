package api

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// bodyTime bounds how long a client may take to send its body.
const bodyTime = 2 * time.Minute

// limitBody bounds the size of the body and the time it may take to arrive.
func (s *Server) limitBody(limit int64) gin.HandlerFunc {
	return func(c *gin.Context) {
		if limit == noBody || limit == anyBody {
			c.Next()
			return
		}
		control := http.NewResponseController(c.Writer)
		_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // a test's recorder has none
		body := &boundedBody{
			ReadCloser: http.MaxBytesReader(c.Writer, c.Request.Body, limit),
			whole:      c.Request.Body,
			limit:      limit,
			done:       func() { _ = control.SetReadDeadline(time.Time{}) },
		}
		if c.Request.ContentLength > limit {
			c.Header("Connection", "close")
			body.drain(2 * limit)
			s.fail(c, tooLargeBody(limit))
			return
		}
		c.Request.Body = body
		c.Next()
	}
}

// boundedBody lifts the read deadline once the body is read: after it the connection is
// only watched for the client's leaving, which may be hours.
type boundedBody struct {
	io.ReadCloser
	whole io.Reader // the body without its bound
	limit int64
	done  func()
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil || b.done == nil {
		return n, err
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		b.drain(b.limit)
	}
	b.done()
	b.done = nil
	return n, err
}

// drain reads on, to twice of what was allowed in all: a client that is still sending when
// the connection closes would see a reset instead of the answer.
func (b *boundedBody) drain(most int64) {
	_, _ = io.CopyN(io.Discard, b.whole, most) // whatever the client does, its answer is the same
}
