package archtest_test

// module is the path under which the project's own packages stand.
const module = "github.com/harvest-engine/harvest/"

// rule says what the packages of a room may import. Paths are relative to the module and
// cover what is below them; what is not listed is closed.
type rule struct {
	room     string   // folder, relative to the module's root
	own      []string // packages of the project
	others   []string // modules outside the standard library; "*" for any
	stdlib   []string // packages of the standard library that are closed
	exactOwn bool     // own lists packages, not folders
}

// temporal is the SDK as deterministic code and activities see it.
var temporal = []string{"go.temporal.io/sdk", "go.temporal.io/api"}

// outside are the packages by which code reaches a clock's, a network's, a disk's or a
// random source's world; workflows have none of them.
var outside = []string{"net", "net/http", "os", "os/exec", "io/ioutil", "crypto/rand", "math/rand", "math/rand/v2", "syscall", "path/filepath"}

// rules is the table of docs/development.md: who may import whom. The longest room that
// holds a package counts.
var rules = []rule{
	{room: "internal/domain"},
	{room: "internal/flow", others: temporal},
	{room: "workflows", own: []string{"internal/domain", "internal/flow"}, others: temporal, stdlib: outside},
	{room: "activities", own: []string{"internal/domain", "internal/flow", "internal/graph", "workflows", "tools", "prompts"}, others: append([]string{"github.com/rs/zerolog"}, temporal...), exactOwn: true},
	{room: "tools", own: []string{"internal/domain", "internal/graph", "internal/shellpolicy"}, others: []string{"github.com/pmezard/go-difflib"}, exactOwn: true},
	{room: "prompts"},
	{room: "worker", own: []string{"internal/domain", "internal/flow", "internal/obs", "workflows", "activities"}, others: []string{"*"}},
	{room: "api", own: []string{"internal/domain", "internal/agentwire", "internal/engine", "internal/graph", "internal/obs", "internal/sse"}, others: []string{
		"github.com/coder/websocket", "github.com/gin-gonic/gin", "github.com/rs/zerolog", "github.com/getkin/kin-openapi", "golang.org/x/sync",
	}, exactOwn: true},
	{room: "internal/engine", own: []string{"internal/domain", "internal/flow", "workflows"}, others: append([]string{"github.com/rs/zerolog", "golang.org/x/sync"}, temporal...)},
	{room: "internal/graph", own: []string{"internal/domain"}},
	{room: "internal/graph/pg", own: []string{"internal/domain", "internal/graph"}, others: []string{"*"}, exactOwn: true},
	{room: "internal/graph/neo4j", own: []string{"internal/domain", "internal/graph"}, others: []string{"*"}, exactOwn: true},
	{room: "internal/graph/graphtest", own: []string{"internal/domain", "internal/graph"}, others: []string{"*"}, exactOwn: true},
	{room: "internal/graph/graphbench", own: []string{"internal/domain", "internal/graph", "internal/graph/pg", "internal/graph/neo4j"}, others: []string{"*"}, exactOwn: true},
	{room: "internal/llm", own: []string{"internal/domain", "internal/llm", "internal/llm/wire"}, others: []string{"*"}, exactOwn: true},
	{room: "internal/llm/providers", own: []string{"internal/domain", "internal/llm"}},
	{room: "internal/knowledge", own: []string{"internal/domain", "internal/graph", "internal/knowledge"}, others: []string{"*"}},
	{room: "internal/postgres", own: []string{"internal/domain", "internal/postgres"}, others: []string{"*"}},
	{room: "internal/library", own: []string{"internal/domain", "internal/library"}, others: []string{"*"}},
	{room: "internal/secrets", own: []string{"internal/domain"}, others: []string{"*"}},
	{room: "internal/config", own: []string{"internal/domain"}, others: []string{"*"}},
	{room: "internal/obs", own: []string{"internal/domain"}, others: []string{"*"}},
	{room: "internal/pdftext", own: []string{"internal/domain"}, others: []string{"*"}},
	{room: "internal/signin", own: []string{"internal/domain"}, others: []string{"*"}},
	{room: "internal/sse", own: []string{"internal/domain"}},
	{room: "internal/embedded", own: []string{"internal/domain"}, others: []string{"*"}},
	{room: "internal/testkit", own: []string{"internal/domain", "internal/embedded", "internal/postgres"}, others: []string{"*"}},
	{room: "internal/crashtest"},   // tests only
	{room: "internal/machinetest"}, // tests only
	{room: "internal/agentwire"},
	{room: "internal/agent", own: []string{"internal/agentwire", "internal/sse"}, others: []string{"github.com/coder/websocket", "github.com/creack/pty", "github.com/pelletier/go-toml/v2", "golang.org/x/sys"}},
	{room: "internal/agenthub", own: []string{"internal/agentwire", "internal/domain"}, others: []string{"github.com/coder/websocket", "github.com/rs/zerolog", "golang.org/x/sync"}},
	{room: "internal/shellpolicy", others: []string{"mvdan.cc/sh/v3"}},
	{room: "internal/peers", own: []string{"internal/agentwire", "internal/domain"}, others: []string{"github.com/coder/websocket", "github.com/rs/zerolog"}},
	{room: "internal/lxd", own: []string{"internal/domain"}, others: []string{"github.com/coder/websocket", "github.com/rs/zerolog"}},
	{room: "internal/bench", own: []string{""}, others: []string{"*"}},
	{room: "cmd", own: []string{""}, others: []string{"*"}},
}

// environment lists what may be reached from cmd alone: everything else is given its
// settings.
var environment = map[string][]string{
	"os": {"Args", "Getenv", "LookupEnv", "Environ", "ExpandEnv"},
}

// mayReadEnvironment are the rooms where environment does not hold: the program's own
// commands, and the kit that tests start servers with.
var mayReadEnvironment = []string{"cmd", "internal/testkit"}

const (
	maxFileLines = 600
	maxFuncLines = 80
)
