package api

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// Turns starts, reads and stops query turns.
type Turns interface {
	// StartTurn stores the turn and starts it, or gives the earlier turn of the same
	// idempotency key. Errors: conflict where the conversation is busy, unprocessable where
	// the key came with another body, not_found for a conversation that is not the user's.
	StartTurn(ctx context.Context, req domain.TurnRequest) (domain.Turn, error)
	// Turn gives a turn, or not_found. Whether the caller may see it is the API's to check.
	Turn(ctx context.Context, id string) (domain.Turn, error)
	// WaitTurn blocks until the turn is final, or waits for a person. An end of ctx ends the wait, not the turn.
	WaitTurn(ctx context.Context, id string) (domain.Turn, error)
	// CancelTurn asks the turn to stop and gives it as it stands; a final turn is left alone.
	CancelTurn(ctx context.Context, id string) (domain.Turn, error)
	// Follow gives the turn's events after the cursor, the stored ones first and then those
	// to come, and ends after the terminal event or with ctx. A reader that takes its time
	// never holds the turn up.
	Follow(ctx context.Context, turnID string, after domain.Cursor) iter.Seq2[domain.Event, error]
}

// Actions are the tool calls that wait for a person's approval.
type Actions interface {
	// Action gives an action, or not_found.
	Action(ctx context.Context, id string) (domain.Action, error)
	// Actions lists actions, the newest first.
	Actions(ctx context.Context, q domain.ActionQuery) ([]domain.Action, error)
	// ActionOf finds an action of a project's conversation by its id or that of its call.
	ActionOf(ctx context.Context, projectID, conversationID, name string) (domain.Action, error)
	// WaitingActions lists what a turn waits for.
	WaitingActions(ctx context.Context, turnID string) ([]domain.Action, error)
	// DecideActions records what a person decides, all of it or nothing, and lets the turns go
	// on. Errors: forbidden without the right to decide or with a wrong nonce; conflict where an
	// action is decided, has expired, is another one than was shown, or its turn was canceled.
	DecideActions(ctx context.Context, who domain.Actor, decisions []domain.Decision) ([]domain.Action, error)
	// NotePerformed records that a person did by a route what calls of a tool with one of these
	// inputs do.
	NotePerformed(ctx context.Context, by domain.Performance) error
}

// Ingests reads repositories into the graph.
type Ingests interface {
	// AddRepository saves the repository and starts reading it. Errors: invalid for an
	// address that can't be read, forbidden for a local path outside the configured roots,
	// conflict where a run of the same repository is under way.
	AddRepository(ctx context.Context, req domain.IngestRequest) (domain.Ingest, error)
	// IngestRepository reads a known repository again; req.Refs and the like, where set,
	// replace what was saved. not_found for an unknown name.
	IngestRepository(ctx context.Context, req domain.IngestRequest) (domain.Ingest, error)
	// DeleteRepository removes a repository with all its versions, or not_found.
	DeleteRepository(ctx context.Context, name string) error
	// Ingest gives a run with its progress, or not_found.
	Ingest(ctx context.Context, id string) (domain.Ingest, error)
	// FollowIngest gives the run's events after the cursor, like Turns.Follow.
	FollowIngest(ctx context.Context, id string, after domain.Cursor) iter.Seq2[domain.Event, error]
}

// Sources reads repositories, versions and texts; graph.Sources does.
type Sources interface {
	Repositories(ctx context.Context) ([]domain.Repository, error)
	Version(ctx context.Context, repo, tag string) (domain.VersionDetail, error)
	ReadFile(ctx context.Context, at graph.FileRef, from, to int) (text string, lines int, err error)
}

// Graph reads symbols and edges; graph.Backend does.
type Graph interface {
	FindSymbols(ctx context.Context, ref graph.SymbolRef) ([]graph.Hit, error)
	Graph(ctx context.Context, repo, version string, maxNodes, maxEdges int) (graph.Picture, error)
}

// Providers lists the model providers that the picker shows (expose_to_ui).
type Providers interface {
	// Providers asks each service for its models; one that can't be asked is listed with the
	// models it was configured with. The API caches the answer.
	Providers(ctx context.Context) ([]domain.ProviderInfo, error)
}

// Projects keeps groups and projects; whether the caller may see one is the API's to check.
type Projects interface {
	// Groups lists all groups by name, or with a user only that person's.
	Groups(ctx context.Context, userID string) ([]domain.Group, error)
	// Projects lists what a person may see, by name.
	Projects(ctx context.Context, who domain.Actor) ([]domain.Project, error)
	// Project gives a project, or not_found.
	Project(ctx context.Context, id string) (domain.Project, error)
	// CreateProject makes a project of the group; not_found where there is none.
	CreateProject(ctx context.Context, p domain.Project) (domain.Project, error)
	// UpdateProject changes name or description; nil leaves it.
	UpdateProject(ctx context.Context, id string, name, description *string) error
	// MoveProject gives a project to another group; invalid where there is none.
	MoveProject(ctx context.Context, id, groupID string) error
	// ConfirmSettings gives what holds for the actions of a project.
	ConfirmSettings(ctx context.Context, projectID string) (domain.ConfirmSettings, error)
	// SetConfirmSettings keeps it.
	SetConfirmSettings(ctx context.Context, projectID string, c domain.ConfirmSettings) error
}

// Conversations keeps conversations and tells what happens in projects; whether the caller may
// see one is the API's to check.
type Conversations interface {
	// Conversations lists a project's or a person's, the one changed last first.
	Conversations(ctx context.Context, q domain.ConversationQuery) ([]domain.Conversation, error)
	// SearchConversations looks for words in titles and messages, the best first.
	SearchConversations(ctx context.Context, q domain.ConversationQuery, words string) ([]domain.Found, error)
	// CreateConversation makes an empty one.
	CreateConversation(ctx context.Context, c domain.Conversation) (domain.Conversation, error)
	// Conversation gives one, or not_found.
	Conversation(ctx context.Context, id string) (domain.Conversation, error)
	// Entries gives the messages of the branch that ends with the message, or with "" of the
	// one in use, oldest first.
	Entries(ctx context.Context, c domain.Conversation, messageID string) ([]domain.Entry, error)
	// Attachment gives a file of a message, counted from 0, or not_found.
	Attachment(ctx context.Context, conversationID, messageID string, n int) (domain.File, error)
	// RetitleConversation gives it a title of a person's own.
	RetitleConversation(ctx context.Context, id, title string) error
	// CutConversation makes the message, "" for none, the end of the branch in use; conflict
	// while a turn runs.
	CutConversation(ctx context.Context, id, messageID string) error
	// BranchConversation makes a new one, c, of the messages up to the given one.
	BranchConversation(ctx context.Context, from domain.Conversation, messageID string, c domain.Conversation) (domain.Conversation, error)
	// FollowProject gives the events of a project after a place, as they come.
	FollowProject(ctx context.Context, q domain.FeedQuery) iter.Seq2[domain.FeedEvent, error]
	// ProjectUsage sums up what a project's turns took, both days included.
	ProjectUsage(ctx context.Context, projectID string, from, to time.Time) (domain.ProjectUsage, error)
}

// Workspaces does what ends or starts work in projects and conversations.
type Workspaces interface {
	// DeleteProject ends the project's work and removes it with all it owns.
	DeleteProject(ctx context.Context, id string) (domain.Removed, error)
	// DeleteConversation removes a conversation; a turn that runs in it is stopped.
	DeleteConversation(ctx context.Context, id string) error
	// AskAgain starts a turn that answers the last question anew, in the name of by.
	AskAgain(ctx context.Context, c domain.Conversation, by domain.TurnRequest) (domain.Turn, error)
}

// Describer knows the tools.
type Describer interface {
	// Names lists the tools.
	Names() []string
	// CheckCommands is invalid where a pattern of allowed commands can't be one.
	CheckCommands(patterns []string) error
	// Describe says in one line what a tool call does.
	Describe(name string, input json.RawMessage) string
}
