package api

import (
	"bytes"
	"context"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

const devicePath = "/auth/device"

var errNoDevices = domain.Errorf(domain.CodeNotConfigured, "nobody can sign in to this server: its configuration has no [auth] section")

// deviceBegun is the answer of POST /auth/device, with the names of RFC 8628. The addresses
// are paths on the server that was called.
type deviceBegun struct {
	DeviceCode  string `json:"device_code"`
	UserCode    string `json:"user_code"`
	Page        string `json:"verification_uri"`
	PageOfCode  string `json:"verification_uri_complete"`
	LifeSeconds int    `json:"expires_in"`
	Interval    int    `json:"interval"` // seconds between two calls of POST /auth/device/token
}

// beginDevice answers POST /auth/device: a terminal asks for an API key.
func (s *Server) beginDevice(ctx context.Context, r request[newKey]) (deviceBegun, error) {
	if s.SignIn == nil {
		return deviceBegun{}, errNoDevices
	}
	codes, err := s.SignIn.BeginDevice(ctx, domain.NewDevice{
		Name: r.body.Name, Scopes: r.body.Scopes, KeyDays: r.body.ExpiresInDays, Address: addressOf(r.http),
	})
	r.reply.Set("Cache-Control", "no-store")
	return deviceBegun{
		DeviceCode: codes.DeviceCode, UserCode: codes.UserCode, Page: devicePath, PageOfCode: pageOfCode(codes.UserCode),
		LifeSeconds: int(codes.Life.Seconds()), Interval: int(codes.Interval.Seconds()),
	}, err
}

func pageOfCode(userCode string) string {
	return devicePath + "?user_code=" + url.QueryEscape(userCode)
}

// deviceCode is the body of POST /auth/device/token.
type deviceCode struct {
	Code string `json:"device_code"`
}

// redeemDevice answers POST /auth/device/token: the key, once it was granted.
func (s *Server) redeemDevice(ctx context.Context, r request[deviceCode]) (raw, error) {
	if s.SignIn == nil {
		return raw{}, errNoDevices
	}
	key, text, err := s.SignIn.RedeemDevice(ctx, r.body.Code)
	if err != nil {
		return raw{}, err
	}
	r.reply.Set("Cache-Control", "no-store")
	if text == "" {
		return raw{status: http.StatusAccepted, json: encode(map[string]domain.DeviceStatus{"status": domain.DeviceWaiting})}, nil
	}
	return raw{json: encode(madeKey{key, text})}, nil
}

//go:embed device.html
var devicePageText string

var devicePage = template.Must(template.New("device").Parse(devicePageText))

// deviceView is what the page shows.
type deviceView struct {
	Person  string // who is signed in; "" for nobody
	Ways    []wayIn
	Local   bool // local accounts sign in by harvest login --email
	Code    string
	Device  *domain.Device
	Days    int
	Message string
	Fault   bool // Message is of a fault
}

// wayIn is a provider by which one can sign in, and the link that does it.
type wayIn struct{ Name, Link string }

// showDevice answers GET /auth/device: the page on which somebody grants a terminal a key.
func (s *Server) showDevice(c *gin.Context) {
	if s.SignIn == nil {
		s.fail(c, errNoDevices)
		return
	}
	if err := s.knownHost(c.Request); err != nil {
		s.fail(c, err)
		return
	}
	who := callerOf(c)
	view := deviceView{Person: who.Name, Code: strings.TrimSpace(c.Query("user_code"))}
	switch {
	case who.Nobody():
		view.Local, view.Ways = s.SignIn.LocalLogin(), s.waysTo(c.Request.URL.RequestURI())
	case view.Code != "":
		device, err := s.SignIn.Device(c.Request.Context(), who.UserID, view.Code)
		if err != nil {
			s.writeDeviceFault(c, who, err)
			return
		}
		view.Device, view.Days = &device, device.KeyDays
	}
	s.writeDevicePage(c, http.StatusOK, view)
}

// waysTo lists the providers that work, each with the link that leads on to a page.
func (s *Server) waysTo(next string) (ways []wayIn) {
	for _, way := range s.SignIn.Ways() {
		if way.Fault == nil {
			ways = append(ways, wayIn{way.DisplayName, "/auth/" + way.Provider + "?next=" + url.QueryEscape(next)})
		}
	}
	return ways
}

// decideDevice answers POST /auth/device/decide, the form of that page.
func (s *Server) decideDevice(c *gin.Context) {
	if s.SignIn == nil {
		s.fail(c, errNoDevices)
		return
	}
	who, code := callerOf(c), c.PostForm("user_code")
	granted := c.PostForm("decision") == "grant"
	if err := s.grantDevice(c.Request.Context(), who, code, granted); err != nil {
		s.writeDeviceFault(c, who, err)
		return
	}
	view := deviceView{Person: who.Name, Message: "Refused. The terminal gets no key."}
	if granted {
		view.Message = "Granted. Go back to the terminal."
	}
	s.writeDevicePage(c, http.StatusOK, view)
}

// grantDevice decides about a device. A key grants no key that is good for more than itself.
func (s *Server) grantDevice(ctx context.Context, who caller, code string, granted bool) error {
	device, err := s.SignIn.Device(ctx, who.UserID, code)
	if err != nil {
		return err
	}
	for _, scope := range device.Scopes {
		if granted && !who.Allows(scope) {
			return domain.Errorf(domain.CodeForbidden, "this API key is not good for %q itself", scope)
		}
	}
	return s.SignIn.DecideDevice(ctx, domain.DeviceDecision{UserCode: device.UserCode, UserID: who.UserID, Granted: granted})
}

func (s *Server) writeDeviceFault(c *gin.Context, who caller, err error) {
	status, _ := describe(err)
	s.writeDevicePage(c, status, deviceView{Person: who.Name, Message: domain.PublicMessage(err), Fault: true})
}

// writeDevicePage writes the page, which no other page may frame and which loads nothing.
func (s *Server) writeDevicePage(c *gin.Context, status int, view deviceView) {
	var page bytes.Buffer
	if err := devicePage.Execute(&page, view); err != nil {
		s.fail(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	c.Header("Referrer-Policy", "same-origin") // without any, browsers send the form from nowhere, which is refused
	c.Header("Content-Type", "text/html; charset=utf-8")
	writeRaw(c, raw{json: page.Bytes()}, status)
}
