package main

import (
	"context"
	"net/url"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/signin"
)

// signIn lets people sign in to the API where the configuration has an [auth] section, and
// gives the function that ends what looks for the providers.
func (a *assembly) signIn(cfg *api.Config) (stop func(), err error) {
	auth := a.cfg.Auth
	if auth == nil {
		return func() {}, nil
	}
	secret := auth.JWTSecret.Reveal()
	if secret == "" {
		if secret, err = sessionSecret(a.cfg.Data.Dir); err != nil {
			return nil, err
		}
	}
	providers := signInProviders(auth)
	service, err := signin.New(signin.Config{
		Store: a.store, Secret: secret, Local: auth.AllowLocalLogin, SetupToken: auth.SetupToken.Reveal(),
		Providers: providers, Log: a.log,
	})
	if err != nil {
		return nil, err
	}
	cfg.SignIn = service
	for _, p := range providers {
		cfg.Checks = append(cfg.Checks, signInCheck(service, p.Name))
		if u, err := url.Parse(p.RedirectURI); err == nil {
			cfg.Hosts = append(cfg.Hosts, u.Hostname()) // browsers come back by that name
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		service.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}

func signInProviders(auth *config.Auth) (list []signin.Provider) {
	if g := auth.Google; g != nil {
		list = append(list, signin.Provider{
			Name: "google", DisplayName: "Google", Issuer: signin.GoogleIssuer,
			ClientID: g.ClientID, ClientSecret: g.ClientSecret.Reveal(), RedirectURI: g.RedirectURI,
		})
	}
	if o := auth.OIDC; o != nil {
		list = append(list, signin.Provider{
			Name: "oidc", DisplayName: o.DisplayName, Issuer: o.IssuerURL,
			ClientID: o.ClientID, ClientSecret: o.ClientSecret.Reveal(), RedirectURI: o.RedirectURI,
		})
	}
	return list
}

// signInCheck tells whether a provider can be used. The server is ready without: keys, local
// accounts and sessions go on.
func signInCheck(service *signin.Service, provider string) api.Check {
	return api.Check{Name: "sign-in by " + provider, Beside: true, Test: func(context.Context) error {
		for _, way := range service.Ways() {
			if way.Provider == provider {
				return way.Fault
			}
		}
		return nil
	}}
}
