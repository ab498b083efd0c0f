package main

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// toolMachines are the machines of projects as tools use them. The engine is there once tools run.
type toolMachines struct{ of *assembly }

func (m toolMachines) Agents(ctx context.Context, projectID string) ([]domain.Agent, error) {
	return m.of.store.Agents(ctx, projectID)
}

func (m toolMachines) Command(ctx context.Context, projectID, id string) (domain.Command, error) {
	return m.of.store.Command(ctx, projectID, id)
}

func (m toolMachines) StartCommand(ctx context.Context, order domain.CommandOrder) (domain.Command, error) {
	return m.of.engine.StartCommand(ctx, order)
}

func (m toolMachines) AwaitCommand(ctx context.Context, id string) (domain.Command, error) {
	return m.of.engine.AwaitCommand(ctx, id)
}

func (m toolMachines) ConfirmSettings(ctx context.Context, projectID string) (domain.ConfirmSettings, error) {
	return m.of.store.ConfirmSettings(ctx, projectID)
}
