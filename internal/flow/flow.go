// Package flow gives names of Temporal activities, workflows and signals their types, so
// that a caller and a registration can't disagree about them.
package flow

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"
)

// Activity is the typed name of an activity.
type Activity[In, Out any] struct{ Name string }

// Execute schedules the activity with the options set on ctx.
func (a Activity[In, Out]) Execute(ctx workflow.Context, in In) Future[Out] {
	return Future[Out]{workflow.ExecuteActivity(ctx, a.Name, in)}
}

// ExecuteLocal runs the activity inside the workflow task, with the local options set on ctx.
func (a Activity[In, Out]) ExecuteLocal(ctx workflow.Context, in In) Future[Out] {
	return Future[Out]{workflow.ExecuteLocalActivity(ctx, a.Name, in)}
}

// ActivityRegistry is the part of a worker that registers activities.
type ActivityRegistry interface {
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// Register binds an implementation to the name.
func (a Activity[In, Out]) Register(r ActivityRegistry, fn func(context.Context, In) (Out, error)) {
	r.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: a.Name})
}

// Future is the typed result of an activity or a child workflow.
type Future[Out any] struct{ workflow.Future }

// Result blocks until the result is there.
func (f Future[Out]) Result(ctx workflow.Context) (Out, error) {
	var out Out
	err := f.Get(ctx, &out)
	return out, err
}

// Workflow is the typed name of a workflow.
type Workflow[In, Out any] struct{ Name string }

// Child starts the workflow as a child with the options set on ctx.
func (w Workflow[In, Out]) Child(ctx workflow.Context, in In) ChildFuture[Out] {
	return ChildFuture[Out]{workflow.ExecuteChildWorkflow(ctx, w.Name, in)}
}

// ChildFuture is the typed result of a child workflow.
type ChildFuture[Out any] struct{ workflow.ChildWorkflowFuture }

// Result blocks until the child is closed.
func (f ChildFuture[Out]) Result(ctx workflow.Context) (Out, error) {
	var out Out
	err := f.Get(ctx, &out)
	return out, err
}

// WorkflowRegistry is the part of a worker that registers workflows.
type WorkflowRegistry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// Register binds an implementation to the name.
func (w Workflow[In, Out]) Register(r WorkflowRegistry, fn func(workflow.Context, In) (Out, error)) {
	r.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: w.Name})
}

// Signal is the typed name of a signal.
type Signal[T any] struct{ Name string }

// Channel gives the workflow's end of the signal.
func (s Signal[T]) Channel(ctx workflow.Context) workflow.ReceiveChannel {
	return workflow.GetSignalChannel(ctx, s.Name)
}

// Receive takes a waiting signal without blocking; ok is false where there is none.
func (s Signal[T]) Receive(ctx workflow.Context) (value T, ok bool) {
	ok = s.Channel(ctx).ReceiveAsync(&value)
	return value, ok
}
