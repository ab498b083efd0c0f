package testkit_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/harvest-engine/harvest/internal/testkit"
)

type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

var _ sdklog.Logger = silent{}

func TestStackServesANamespaceWithItsAttributes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := testkit.Stack(t)
	client, err := sdkclient.Dial(sdkclient.Options{HostPort: s.TemporalAddress, Namespace: s.TemporalNamespace, Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	namespace, err := client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: s.TemporalNamespace})
	if err != nil {
		t.Fatal(err)
	}
	if got := namespace.Config.WorkflowExecutionRetentionTtl.AsDuration(); got != 7*24*time.Hour {
		t.Errorf("retention is %s, not seven days", got)
	}
	attributes, err := client.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: s.TemporalNamespace})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]enums.IndexedValueType{
		"HarvestKind":         enums.INDEXED_VALUE_TYPE_KEYWORD,
		"HarvestUser":         enums.INDEXED_VALUE_TYPE_KEYWORD,
		"HarvestProject":      enums.INDEXED_VALUE_TYPE_KEYWORD,
		"HarvestConversation": enums.INDEXED_VALUE_TYPE_KEYWORD,
		"HarvestSubject":      enums.INDEXED_VALUE_TYPE_KEYWORD,
		"HarvestRepositories": enums.INDEXED_VALUE_TYPE_KEYWORD_LIST,
	} {
		if got := attributes.CustomAttributes[name]; got != want {
			t.Errorf("search attribute %s is %v, want %v", name, got, want)
		}
	}
}
