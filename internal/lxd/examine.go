package lxd

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Examine looks whether containers can be made, by an identity, without changing anything: it
// neither joins nor makes a project. It gives the server's version; where something is in the way
// an error says what.
func (c *Containers) Examine(ctx context.Context) (version string, err error) {
	d := c.door
	identity, err := d.identity(ctx)
	if err != nil {
		return "", err
	}
	pin, err := d.config.Store.LXDPin(ctx, d.config.Endpoint)
	if err != nil {
		return "", err
	}
	token, tokenErr := Token{}, error(nil)
	if d.config.TrustToken != "" && d.config.ClientCert == "" {
		token, tokenErr = ParseToken(d.config.TrustToken)
	}
	client, server, err := d.connect(ctx, identity, pin, token)
	if err != nil {
		return "", domain.Wrap(domain.CodeUnavailable, err, "%s", d.told(d.explain(err, tokenErr)))
	}
	defer client.Close()
	version = server.Environment.ServerVersion
	switch {
	case server.Auth == "trusted":
		if _, err := client.GetProject(ctx, client.project); domain.CodeOf(err) == domain.CodeNotFound {
			client.project = "default" // its own is made at the first start, and has images and profiles of this one
		}
		return version, c.checkParts(ctx, client)
	case tokenErr != nil:
		return version, tokenErr
	case token.Text != "":
		return version, domain.Errorf(domain.CodeForbidden, "the server does not know Harvest yet; a start joins it by [lxd] trust_token")
	}
	return version, d.introduce(ctx, client, token, nil)
}
