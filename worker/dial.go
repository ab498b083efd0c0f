package worker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Connection says how to reach Temporal.
type Connection struct {
	Address   string // host:port
	Namespace string
	APIKey    string // "" for none; sent over TLS only
	TLS       *TLS   // nil: in clear, unless there is an API key
	Codec     *Codec
	Log       sdklog.Logger
	Metrics   sdkclient.MetricsHandler // nil for none
	Identity  string                   // names this process in the Temporal UI; "" for the SDK's default
}

// TLS says how to trust the server and how to be trusted; all files are PEM.
type TLS struct {
	CAFile     string // "" for the system's roots
	CertFile   string // "" for no client certificate
	KeyFile    string
	ServerName string // "" for the address's host
}

// dialTimeout bounds the first contact. A server that starts beside us gets its own wait.
const dialTimeout = 10 * time.Second

// largePayload is the size in bytes from which the log complains: what may grow so large is
// stored and passed by reference.
const largePayload = 64 << 10

// Dial connects to Temporal and checks that the namespace is there. Errors say what is
// wrong with which setting.
func Dial(ctx context.Context, c Connection) (sdkclient.Client, error) {
	options := sdkclient.Options{
		HostPort:         c.Address,
		Namespace:        c.Namespace,
		Identity:         c.Identity,
		Logger:           c.Log,
		MetricsHandler:   c.Metrics,
		DataConverter:    c.Codec.DataConverter(),
		FailureConverter: c.Codec.FailureConverter(),
		PayloadLimits:    sdkclient.PayloadLimitOptions{PayloadSizeWarning: largePayload, MemoSizeWarning: largePayload},
	}
	// Payloads come compressed and encrypted out of the codec: to compress the messages around
	// them costs both sides more than it saves.
	options.ConnectionOptions.GrpcCompression = &sdkclient.GrpcCompressionNone{}
	if c.APIKey != "" {
		options.Credentials = sdkclient.NewAPIKeyStaticCredentials(c.APIKey)
		if c.TLS == nil {
			c.TLS = &TLS{}
		}
	}
	if c.TLS != nil {
		config, err := c.TLS.config()
		if err != nil {
			return nil, err
		}
		options.ConnectionOptions.TLS = config
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	client, err := sdkclient.DialContext(ctx, options)
	if err != nil {
		return nil, domain.Wrap(domain.CodeUnavailable, err, "Temporal can't be reached at %s; check the address, TLS and API key, and that it runs", c.Address)
	}
	if err := checkNamespace(ctx, client, c.Namespace); err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

// checkNamespace tells a wrong namespace at the start instead of at the first workflow. A
// key that may not describe it is no fault.
func checkNamespace(ctx context.Context, client sdkclient.Client, namespace string) error {
	_, err := client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	var (
		missing *serviceerror.NamespaceNotFound
		denied  *serviceerror.PermissionDenied
	)
	switch {
	case err == nil, errors.As(err, &denied):
		return nil
	case errors.As(err, &missing):
		return domain.Wrap(domain.CodeNotFound, err, "Temporal has no namespace %q; create it, or set another", namespace)
	default:
		return domain.Wrap(domain.CodeUnavailable, err, "Temporal does not answer for namespace %q", namespace)
	}
}

func (t *TLS) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read Temporal's CA file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, domain.Invalid("ca_file", "%s holds no PEM certificate", t.CAFile)
		}
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		return nil, domain.Invalid("cert_file", "a client certificate needs both cert_file and key_file")
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, domain.Wrap(domain.CodeInvalid, err, "Temporal's client certificate can't be used: %s with %s", t.CertFile, t.KeyFile)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
