package neo4j

import (
	"context"
	"reflect"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The server's read mode refuses writes, but not LOAD CSV (files and addresses), procedures
// that end other people's work, or lists of users and settings. So a query is explained
// first, and runs only if its plan is made of operators known to read the graph and nothing
// else, and of procedures from a list. What is not on a list, such as an operator of a later
// server, is refused.

// readOperators are the operators of plans that may run.
var readOperators = set(`
ProduceResults Argument EmptyRow Projection Filter CacheProperties Optional Distinct OrderedDistinct Unwind
Limit ExhaustiveLimit Skip Sort PartialSort Top PartialTop Top1WithTies PartialTop1WithTies Eager
EagerAggregation OrderedAggregation Union OrderedUnion
Apply SemiApply AntiSemiApply LetSemiApply LetAntiSemiApply SelectOrSemiApply SelectOrAntiSemiApply LetSelectOrSemiApply
LetSelectOrAntiSemiApply ConditionalApply AntiConditionalApply RollUpApply
CartesianProduct NodeHashJoin ValueHashJoin NodeLeftOuterHashJoin NodeRightOuterHashJoin AssertSameNode AssertSameRelationship
TriadicSelection TriadicBuild TriadicFilter
AllNodesScan NodeByLabelScan UnionNodeByLabelsScan IntersectionNodeByLabelsScan SubtractionNodeByLabelsScan
NodeByIdSeek NodeByElementIdSeek NodeIndexScan NodeIndexSeek NodeUniqueIndexSeek MultiNodeIndexSeek AssertingMultiNodeIndexSeek
NodeIndexSeekByRange NodeUniqueIndexSeekByRange NodeIndexContainsScan NodeIndexEndsWithScan
NodeCountFromCountStore RelationshipCountFromCountStore
DirectedAllRelationshipsScan UndirectedAllRelationshipsScan DirectedRelationshipTypeScan UndirectedRelationshipTypeScan
DirectedUnionRelationshipTypesScan UndirectedUnionRelationshipTypesScan
DirectedRelationshipByIdSeek UndirectedRelationshipByIdSeek DirectedRelationshipByElementIdSeek UndirectedRelationshipByElementIdSeek
DirectedRelationshipIndexScan UndirectedRelationshipIndexScan DirectedRelationshipIndexSeek UndirectedRelationshipIndexSeek
DirectedRelationshipIndexSeekByRange UndirectedRelationshipIndexSeekByRange DirectedRelationshipIndexContainsScan
UndirectedRelationshipIndexContainsScan DirectedRelationshipIndexEndsWithScan UndirectedRelationshipIndexEndsWithScan
Expand(All) Expand(Into) OptionalExpand(All) OptionalExpand(Into) VarLengthExpand(All) VarLengthExpand(Into)
VarLengthExpand(Pruning) VarLengthExpand(Pruning,BFS) VarLengthExpand(Pruning,BFS,All) VarLengthExpand(Pruning,BFS,Into)
ProjectEndpoints ShortestPath StatefulShortestPath(All) StatefulShortestPath(Into)
Repeat Repeat(Trail) RepeatTrail RepeatOptions BidirectionalRepeat(Trail) NullifyMetadata
ProcedureCall`)

// readProcedures are those that may be called.
var readProcedures = set(`
db.labels db.relationshipTypes db.propertyKeys db.schema.visualization db.schema.nodeTypeProperties
db.schema.relTypeProperties db.index.fulltext.queryNodes db.index.fulltext.queryRelationships`)

// readFunctions are the namespaces whose functions may be called; functions without one
// are the language's own.
var readFunctions = set(`date datetime localdatetime localtime time duration point vector.similarity`)

func set(names string) map[string]bool {
	members := map[string]bool{}
	for _, name := range strings.Fields(names) {
		members[name] = true
	}
	return members
}

func forbidden(format string, args ...any) error {
	return domain.Errorf(domain.CodeForbidden, "only queries that read the graph may run: "+format, args...)
}

// explain gives the plan of a query and refuses one that may not run.
func (s *Store) explain(ctx context.Context, session neo4j.SessionWithContext, query string, params map[string]any) error {
	if err := checkText(query); err != nil {
		return err
	}
	result, err := session.Run(ctx, "EXPLAIN "+query, params, neo4j.WithTxTimeout(cypherTime))
	if err != nil {
		return refused(err)
	}
	summary, err := result.Consume(ctx)
	if err != nil {
		return refused(err)
	}
	return checkPlan(summary)
}

// checkPlan refuses a plan that does more than read.
func checkPlan(summary neo4j.ResultSummary) error {
	if summary.StatementType() != neo4j.StatementTypeReadOnly {
		return forbidden("this one writes, or changes the server")
	}
	if summary.Plan() == nil {
		return forbidden("this one has no plan")
	}
	operators, err := planOperators(summary.Plan())
	if err != nil {
		return err
	}
	for _, o := range operators {
		name, database, _ := strings.Cut(o.name, "@")
		if !readOperators[name] {
			return forbidden("it uses %s", name)
		}
		if own := summary.Database(); own != nil && database != "" && own.Name() != "" && database != own.Name() {
			return forbidden("it reads database %s", database)
		}
		if name == "ProcedureCall" {
			procedure, _, _ := strings.Cut(o.details, "(")
			if !readProcedures[strings.TrimSpace(procedure)] {
				return forbidden("it calls %s", strings.TrimSpace(procedure))
			}
		}
	}
	return nil
}

// operator is a step of a plan.
type operator struct{ name, details string }

// planOperators lists all steps of a plan. It reads the driver's own tree by reflection:
// the driver's Children method (v5.28.4) gives an operator's last child in place of each
// one, because its module shares loop variables, and so hides whole branches of a plan, a
// LOAD CSV before a UNION for one. A tree of another shape than expected is refused.
func planOperators(plan neo4j.Plan) ([]operator, error) {
	root := reflect.ValueOf(plan)
	for root.Kind() == reflect.Pointer && !root.IsNil() {
		root = root.Elem()
	}
	if root.Kind() != reflect.Struct {
		return nil, errPlanShape
	}
	tree := root.FieldByName("plan")
	for tree.IsValid() && tree.Kind() == reflect.Pointer && !tree.IsNil() {
		tree = tree.Elem()
	}
	var all []operator
	if err := walkPlan(tree, &all); err != nil {
		return nil, err
	}
	return all, nil
}

var errPlanShape = domain.Errorf(domain.CodeForbidden, "the query's plan can't be read, so it must not run")

func walkPlan(node reflect.Value, all *[]operator) error {
	if !node.IsValid() || node.Kind() != reflect.Struct {
		return errPlanShape
	}
	name, arguments, children := node.FieldByName("Operator"), node.FieldByName("Arguments"), node.FieldByName("Children")
	if name.Kind() != reflect.String || arguments.Kind() != reflect.Map || children.Kind() != reflect.Slice {
		return errPlanShape
	}
	details := ""
	if d := arguments.MapIndex(reflect.ValueOf("Details")); d.IsValid() && d.Elem().Kind() == reflect.String {
		details = d.Elem().String()
	}
	*all = append(*all, operator{name: name.String(), details: details})
	for i := range children.Len() {
		if err := walkPlan(children.Index(i), all); err != nil {
			return err
		}
	}
	return nil
}
