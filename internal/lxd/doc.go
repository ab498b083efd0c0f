// Package lxd speaks to an LXD server: its REST API over mutual TLS, with operations, exec by
// websocket, and all that Harvest needs of instances, networks, projects, profiles, images and
// certificates. Above that, Door is the way to the configured server, which it joins and comes
// back to by itself, and Containers is what is done there for the agents of projects.
package lxd
