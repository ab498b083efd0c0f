package domain

import "time"

// PortForward gives a port of a machine a name under which people reach it.
type PortForward struct {
	ID        string    `json:"id"`
	AgentID   string    `json:"agent_id"`
	Port      int       `json:"port"`
	RouteName string    `json:"route_name"` // unique on the agent
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	URL       string    `json:"url"` // where it is reached
	// Hostname is the machine's, and ProjectID that of its project.
	Hostname  string `json:"-"`
	ProjectID string `json:"-"`
}

// ForwardPath is the path of a port forward, to which a request's own path is added.
func ForwardPath(agentID, routeName string) string {
	return "/agents/" + agentID + "/" + routeName + "/"
}

// PortForwardChange changes a port forward; nil leaves a field as it is.
type PortForwardChange struct {
	Port      *int
	RouteName *string
}

// maxRouteName is the longest label of a DNS name.
const maxRouteName = 63

// Reserved names of routes: what stands under /agents/:id itself.
var reservedRoutes = map[string]bool{"install.sh": true, "binary": true, "harvest-agent": true}

// CheckRouteName gives what is wrong with the name of a route; nil for nothing.
func CheckRouteName(name string) error {
	if reservedRoutes[name] {
		return Invalid("route_name", "%q is taken by Harvest itself; choose another name", name)
	}
	fits := name != "" && len(name) <= maxRouteName && name[0] != '-' && name[len(name)-1] != '-'
	for _, c := range []byte(name) {
		fits = fits && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !fits {
		return Invalid("route_name", "must be 1 to %d lower-case letters, digits and hyphens, with no hyphen first or last", maxRouteName)
	}
	return nil
}

// CheckPort gives what is wrong with a port; nil for nothing.
func CheckPort(port int) error {
	if port < 1 || port > 65535 {
		return Invalid("port", "%d is no port; give one from 1 to 65535", port)
	}
	return nil
}

// Check gives what is wrong with a new port forward.
func (f PortForward) Check() error {
	if err := CheckPort(f.Port); err != nil {
		return err
	}
	return CheckRouteName(f.RouteName)
}

// Check gives what is wrong with a change.
func (c PortForwardChange) Check() error {
	if c.Port == nil && c.RouteName == nil {
		return Invalid("", "give a port or a route_name: nothing would change")
	}
	if c.Port != nil {
		if err := CheckPort(*c.Port); err != nil {
			return err
		}
	}
	if c.RouteName != nil {
		return CheckRouteName(*c.RouteName)
	}
	return nil
}
