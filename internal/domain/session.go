package domain

import "time"

// Registration is a person who makes a local account.
type Registration struct {
	Email      string
	Name       string
	Password   string
	SetupToken string // of the server, where it asks the first person for one
	Address    string // the IP address it comes from
}

// Login is an attempt to sign in to a local account.
type Login struct {
	Email    string
	Password string
	Address  string // the IP address it comes from
}

// PasswordChange is a person who changes their password.
type PasswordChange struct {
	UserID   string
	Current  string
	Password string
	Token    string // of the browser that it is done in, whose session goes on; "" for none
	Session  string // likewise
}

// SignedIn is what a browser keeps of a sign-in.
type SignedIn struct {
	Token       string // proves who it is, for TokenLife
	TokenLife   time.Duration
	Session     string // renews the token, for SessionLife; "" where it stays as it is
	SessionLife time.Duration
	Next        string // the page that the person set out to; "" for none
}

// SignInWay is a provider by which people can sign in.
type SignInWay struct {
	Provider    string // google or oidc
	DisplayName string
	Fault       error // why nobody can use it now; nil where it works
}

// SignInStart is a person on the way to a provider of sign-in.
type SignInStart struct {
	Provider   string
	UserID     string // who is signed in already, and links the identity; "" for nobody
	SetupToken string
	Next       string // the page of ours to go on to afterwards; "" for none
}

// SignInEnd is a person who comes back from a provider.
type SignInEnd struct {
	Provider string
	Kept     string // what the browser kept since SignInStart
	State    string
	Code     string
	UserID   string // who is signed in now; "" for nobody
}
