package lxd

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// clientName is what our certificate is called in "lxc config trust list", where the token
// does not say.
const clientName = "harvest"

// join connects to the server by the identity of this installation, and makes the server trust
// it where it does not yet.
func (d *Door) join(ctx context.Context) (*Client, error) {
	identity, err := d.identity(ctx)
	if err != nil {
		return nil, err
	}
	pin, err := d.config.Store.LXDPin(ctx, d.config.Endpoint)
	if err != nil {
		return nil, err
	}
	token, tokenErr := Token{}, error(nil)
	if text := d.trustToken(); text != "" && d.config.ClientCert == "" {
		token, tokenErr = ParseToken(text)
	}
	client, server, err := d.connect(ctx, identity, pin, token)
	if err != nil {
		return nil, d.explain(err, tokenErr)
	}
	if server.Auth != "trusted" {
		if err := d.introduce(ctx, client, token, tokenErr); err != nil {
			client.Close()
			return nil, err
		}
	}
	if token.Fingerprint != "" && pin != token.Fingerprint && client.verifier.fingerprint == token.Fingerprint {
		if err := d.config.Store.PinLXD(ctx, d.config.Endpoint, token.Fingerprint); err != nil {
			client.Close()
			return nil, err
		}
	}
	if err := ensureProject(ctx, client, d.config.Project); err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

func (d *Door) trustToken() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.token
}

// identity gives the identity by which the server is to know us: that of the configuration, or
// this installation's own. The installation's id is its own in both cases.
func (d *Door) identity(ctx context.Context) (domain.LXDIdentity, error) {
	identity, err := d.config.Store.LXDIdentity(ctx, NewIdentity)
	if err != nil {
		return identity, err
	}
	if d.config.ClientCert != "" {
		identity.Certificate, identity.Key = d.config.ClientCert, d.config.ClientKey
	}
	d.mu.Lock()
	d.installation, d.certificate = identity.Installation, identity.Certificate
	d.mu.Unlock()
	return identity, nil
}

// connect asks the server who it is. Where it shows another certificate than the one that it
// was joined by, and the token in the configuration is for that, the token counts: it was made
// by the server that is there now.
func (d *Door) connect(ctx context.Context, identity domain.LXDIdentity, pin string, token Token) (*Client, Server, error) {
	prints := []string{pin}
	switch {
	case pin == "":
		prints = []string{token.Fingerprint}
	case token.Fingerprint != "" && token.Fingerprint != pin:
		prints = append(prints, token.Fingerprint)
	}
	var failure error
	for _, print := range prints {
		client, err := NewClient(ClientConfig{
			Endpoint: d.config.Endpoint, Certificate: identity.Certificate, Key: identity.Key, Project: d.config.Project,
			Trust: Trust{Insecure: d.config.Insecure, CA: d.config.CACert, Fingerprint: print},
		})
		if err != nil {
			return nil, Server{}, err
		}
		server, err := client.GetServer(ctx)
		if err == nil {
			return client, server, nil
		}
		client.Close()
		if failure == nil { // which certificate is the right one the pin says, where there is one
			failure = err
		}
		var wrong *wrongCertificate
		if !errors.As(err, &wrong) {
			break
		}
	}
	return nil, Server{}, failure
}

// explain says what can be done about a server whose certificate is not the right one.
func (d *Door) explain(err, tokenErr error) error {
	var wrong *wrongCertificate
	if !errors.As(err, &wrong) {
		return err
	}
	if tokenErr != nil {
		return tokenErr
	}
	way := "give a new trust token of the server, or its certificate as [lxd] ca_cert"
	if d.config.ClientCert != "" || d.config.CACert != "" { // then tokens don't count
		way = "give its certificate, or that of who issued it, as [lxd] ca_cert"
	}
	return domain.Wrap(domain.CodeUpstream, wrong, "%s. Where that is right, %s", wrong, way)
}

// introduce makes the server trust our certificate, by the token.
func (d *Door) introduce(ctx context.Context, client *Client, token Token, tokenErr error) error {
	d.mu.Lock()
	own := Fingerprint(d.certificate)
	d.mu.Unlock()
	const ask = "run \"lxc config trust add --name harvest\" on the LXD server and give what it prints as [lxd] trust_token, or to POST /admin/lxd/token"
	switch {
	case d.config.ClientCert != "":
		return domain.Errorf(domain.CodeForbidden, "the server does not trust [lxd] client_cert (fingerprint %.12s…): add it there with \"lxc config trust add FILE\"", own)
	case tokenErr != nil:
		return tokenErr
	case token.Text == "":
		return domain.Errorf(domain.CodeForbidden, "the server does not know Harvest yet: %s", ask)
	}
	err := client.CreateCertificate(ctx, clientName, token.Text)
	if err == nil {
		return nil
	}
	// Another process may have joined meanwhile, with the same certificate and token.
	if server, again := client.GetServer(ctx); again == nil && server.Auth == "trusted" {
		return nil
	}
	if statusOf(err) != http.StatusForbidden {
		return err
	}
	if expired := token.ExpiresAt; !expired.IsZero() && expired.Before(time.Now()) {
		return domain.Wrap(domain.CodeForbidden, err, "the trust token expired at %s: %s", expired.UTC().Format("2006-01-02 15:04 UTC"), ask)
	}
	return domain.Wrap(domain.CodeForbidden, err, "the server refuses the trust token, which is good for one use and a short time: %s", ask)
}

// ensureProject makes the project of LXD where it is missing. It keeps nothing of its own but
// instances: images, profiles and networks are those of the server's default project.
func ensureProject(ctx context.Context, client *Client, name string) error {
	if name == "" || name == "default" {
		return nil
	}
	_, err := client.GetProject(ctx, name)
	if domain.CodeOf(err) != domain.CodeNotFound {
		return err
	}
	err = client.CreateProject(ctx, Project{Name: name, Description: "Containers of Harvest's agents", Config: map[string]string{
		"features.images": "false", "features.profiles": "false", "features.storage.volumes": "false", "features.networks": "false",
	}})
	if statusOf(err) == http.StatusConflict || statusOf(err) == http.StatusBadRequest {
		if _, again := client.GetProject(ctx, name); again == nil { // another process was faster
			return nil
		}
	}
	return err
}
