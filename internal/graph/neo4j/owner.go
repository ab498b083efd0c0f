package neo4j

import (
	"context"
	"errors"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/graph"
)

// owned is the condition for a snapshot v to be ours. Earlier programs wrote none with an owner:
// what none of the others has claimed since may be ours.
const owned = `coalesce(v.owner, $owner) = $owner`

// claim writes our id to the snapshots of earlier programs that are live in our sources.
func (s *Store) claim(ctx context.Context) error {
	owner, err := s.sources.Owner(ctx)
	if err != nil {
		return err
	}
	s.owner = owner
	live, err := s.sources.Snapshots(ctx, nil)
	if err != nil {
		return err
	}
	session := s.session(ctx, neo4j.AccessModeWrite)
	defer closeSession(ctx, session)
	ours := make([]map[string]any, len(live))
	for i, v := range live {
		ours[i] = map[string]any{"id": v.ID, "repo": v.Repo, "tag": v.Tag}
	}
	err = run(ctx, session, `
UNWIND $ours AS our
MATCH (v:HarvestSnapshot {snapshot: our.id, of_repo: our.repo, of_tag: our.tag}) WHERE v.owner IS NULL SET v.owner = $owner`,
		map[string]any{"ours": ours, "owner": s.owner})
	if err != nil {
		return told(err, "claim the snapshots")
	}
	return nil
}

// taken is the code of a number that another snapshot has.
const taken = "Neo.ClientError.Schema.ConstraintValidationFailed"

// begin makes the node of a new snapshot. Our sources number their versions, as others number
// theirs: a number that was used here already is passed over.
func (s *Store) begin(ctx context.Context, spec graph.VersionSpec) (id int64, err error) {
	session := s.session(ctx, neo4j.AccessModeWrite)
	defer closeSession(ctx, session)
	for {
		if id, err = s.sources.Reserve(ctx, spec); err != nil {
			return 0, err
		}
		err = run(ctx, session, `CREATE (:HarvestSnapshot {snapshot: $id, owner: $owner, of_repo: $repo, of_tag: $tag, state: 'staging', seen: timestamp()})`,
			map[string]any{"id": id, "owner": s.owner, "repo": spec.Repo, "tag": spec.Tag})
		var fault *neo4j.Neo4jError
		if errors.As(err, &fault) && fault.Code == taken {
			continue
		}
		if err != nil {
			return 0, told(err, "begin the load of "+spec.Repo)
		}
		return id, nil
	}
}
