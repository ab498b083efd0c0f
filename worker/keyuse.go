package worker

import (
	"context"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// KeyUse says how many open workflows and schedules hold payloads of each key.
type KeyUse struct {
	Open map[string]int // by the key's id
	Seen int            // open workflows and schedules that were looked at
	More bool           // there are others, beyond the limit
}

// keyUsePage is how many workflows one request lists.
const keyUsePage = 200

// CountKeyUse looks at the histories of open workflows, and at schedules, at most limit of
// them in all. It reads which keys they name and decrypts nothing.
func CountKeyUse(ctx context.Context, client sdkclient.Client, namespace string, limit int) (KeyUse, error) {
	use := KeyUse{Open: map[string]int{}}
	c := keyCounter{client: client.WorkflowService(), namespace: namespace, limit: limit, use: &use}
	if err := c.schedules(ctx); err != nil {
		return use, fmt.Errorf("look at the schedules: %w", err)
	}
	if err := c.workflows(ctx); err != nil {
		return use, fmt.Errorf("look at the open workflows: %w", err)
	}
	return use, nil
}

type keyCounter struct {
	client    workflowservice.WorkflowServiceClient
	namespace string
	limit     int
	use       *KeyUse
}

func (c keyCounter) full() bool {
	c.use.More = c.use.More || c.use.Seen >= c.limit
	return c.use.More
}

func (c keyCounter) schedules(ctx context.Context) error {
	var token []byte
	for {
		page, err := c.client.ListSchedules(ctx, &workflowservice.ListSchedulesRequest{Namespace: c.namespace, MaximumPageSize: keyUsePage, NextPageToken: token})
		if err != nil {
			return err
		}
		for _, listed := range page.Schedules {
			if c.full() {
				return nil
			}
			schedule, err := c.client.DescribeSchedule(ctx, &workflowservice.DescribeScheduleRequest{Namespace: c.namespace, ScheduleId: listed.ScheduleId})
			if gone(err) {
				continue
			}
			if err != nil {
				return err
			}
			c.count(keysOf(schedule))
		}
		if token = page.NextPageToken; len(token) == 0 {
			return nil
		}
	}
}

func (c keyCounter) workflows(ctx context.Context) error {
	var token []byte
	for {
		page, err := c.client.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: c.namespace, PageSize: keyUsePage, NextPageToken: token, Query: `ExecutionStatus = "Running"`,
		})
		if err != nil {
			return err
		}
		for _, open := range page.Executions {
			if c.full() {
				return nil
			}
			keys := keysOf(open.GetMemo())
			if err := c.history(ctx, open.Execution, keys); err != nil {
				return err
			}
			c.count(keys)
		}
		if token = page.NextPageToken; len(token) == 0 {
			return nil
		}
	}
}

// history adds the keys of a workflow's events; one that has ended and gone has none.
func (c keyCounter) history(ctx context.Context, execution *commonpb.WorkflowExecution, keys map[string]bool) error {
	var token []byte
	for {
		page, err := c.client.GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
			Namespace: c.namespace, Execution: execution, NextPageToken: token,
		})
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		for id := range keysOf(page.History) {
			keys[id] = true
		}
		if token = page.NextPageToken; len(token) == 0 {
			return nil
		}
	}
}

func (c keyCounter) count(keys map[string]bool) {
	c.use.Seen++
	for id := range keys {
		c.use.Open[id]++
	}
}

func gone(err error) bool {
	var missing *serviceerror.NotFound
	return errors.As(err, &missing)
}

// keysOf gives the ids of the keys that the payloads of a message, however deep, name.
func keysOf(message proto.Message) map[string]bool {
	keys := map[string]bool{}
	if message != nil && message.ProtoReflect().IsValid() {
		addKeys(message.ProtoReflect(), keys)
	}
	return keys
}

func addKeys(m protoreflect.Message, keys map[string]bool) {
	if payload, ok := m.Interface().(*commonpb.Payload); ok {
		if string(payload.GetMetadata()[converter.MetadataEncoding]) == payloadEncoding {
			keys[string(payload.GetMetadata()[metadataKeyID])] = true
		}
		return
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			if field.MapValue().Message() == nil {
				break
			}
			value.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				addKeys(v.Message(), keys)
				return true
			})
		case field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				addKeys(value.List().Get(i).Message(), keys)
			}
		default:
			addKeys(value.Message(), keys)
		}
		return true
	})
}
