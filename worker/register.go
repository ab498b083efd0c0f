package worker

import (
	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/flow"
	"github.com/harvest-engine/harvest/workflows"
)

// Activities are the implementations that a worker serves.
type Activities struct {
	Turn      *activities.Turn
	Model     *activities.Model
	Tool      *activities.Tool
	Action    *activities.Action
	Ingest    *activities.Ingest
	Afterword *activities.Afterword
	Command   *activities.Command
	Provision *activities.Provision
}

// RegisterWorkflows binds every workflow to its name. A replay needs nothing else.
func RegisterWorkflows(r flow.WorkflowRegistry) {
	workflows.TurnQuery.Register(r, workflows.RunTurnQuery)

	workflows.Afterword.Register(r, workflows.RunAfterword)

	workflows.IngestRepository.Register(r, workflows.RunIngestRepository)
	workflows.IngestVersion.Register(r, workflows.RunIngestVersion)
	workflows.DeleteRepository.Register(r, workflows.RunDeleteRepository)

	workflows.CommandRun.Register(r, workflows.RunCommand)
	workflows.ProvisionAgent.Register(r, workflows.RunProvisionAgent)
}

// RegisterActivities binds every activity to its name.
func RegisterActivities(r flow.ActivityRegistry, a Activities) {
	workflows.BeginTurn.Register(r, a.Turn.Begin)
	workflows.ClassifyTurn.Register(r, a.Model.Classify)
	workflows.CompactTurn.Register(r, a.Model.Compact)
	workflows.GenerateModel.Register(r, a.Model.Generate)
	workflows.LocalTool.Register(r, a.Tool.RunLocal)
	workflows.RunTool.Register(r, a.Tool.Run)
	workflows.AbandonTool.Register(r, a.Tool.Abandon)
	workflows.ApplyAction.Register(r, a.Action.Apply)
	workflows.CloseAction.Register(r, a.Action.Close)
	workflows.FinishTurn.Register(r, a.Turn.Finish)

	workflows.WriteAfterword.Register(r, a.Afterword.Write)

	workflows.BeginIngest.Register(r, a.Ingest.Begin)
	workflows.SyncIngest.Register(r, a.Ingest.Sync)
	workflows.NextVersions.Register(r, a.Ingest.Next)
	workflows.ReadVersion.Register(r, a.Ingest.Version)
	workflows.FailVersion.Register(r, a.Ingest.FailVersion)
	workflows.DropRepository.Register(r, a.Ingest.Drop)
	workflows.FinishIngest.Register(r, a.Ingest.Finish)

	workflows.LookAtCommand.Register(r, a.Command.Look)
	workflows.LapseCommand.Register(r, a.Command.Lapse)
	workflows.CancelCommand.Register(r, a.Command.Cancel)
	workflows.BeginProvision.Register(r, a.Provision.Begin)
	workflows.EnsureNetwork.Register(r, a.Provision.Network)
	workflows.MakeToken.Register(r, a.Provision.Token)
	workflows.CreateContainer.Register(r, a.Provision.Create)
	workflows.StartContainer.Register(r, a.Provision.Start)
	workflows.AwaitContainer.Register(r, a.Provision.Await)
	workflows.InstallAgent.Register(r, a.Provision.Install)
	workflows.RetryInstall.Register(r, a.Provision.Retry)
	workflows.RemoveContainer.Register(r, a.Provision.Remove)
	workflows.FinishProvision.Register(r, a.Provision.Finish)
}
