package main

import (
	"context"
	"fmt"
	"time"

	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/worker"
)

const (
	bareSignalled      = "bench.signalled"
	signalledReference = "a bare workflow: start, signal, end"
	sshReference       = "ssh to this machine, a connection each"
)

func bareSignalledWorkflow(ctx workflow.Context) error {
	workflow.GetSignalChannel(ctx, bareGo).Receive(ctx, nil)
	return nil
}

// signalled are the reference's workflows, which do nothing but wait for a signal.
type signalled struct {
	client sdkclient.Client
	worker sdkworker.Worker
}

func openSignalled(on servers) (*signalled, error) {
	client, err := dialBare(on)
	if err != nil {
		return nil, err
	}
	s := &signalled{client, sdkworker.New(client, bareSignalled, sdkworker.Options{WorkflowTaskPollerBehavior: worker.WorkflowPollers(32)})}
	s.worker.RegisterWorkflowWithOptions(bareSignalledWorkflow, workflow.RegisterOptions{Name: bareSignalled})
	if err := s.worker.Start(); err != nil {
		client.Close()
		return nil, fmt.Errorf("start the reference's worker: %w", err)
	}
	return s, nil
}

func (s *signalled) close() {
	s.worker.Stop()
	s.client.Close()
}

// once gives the time from a workflow's start to its end, with a signal between.
func (s *signalled) once(ctx context.Context) (time.Duration, error) {
	started := time.Now()
	run, err := s.client.ExecuteWorkflow(ctx, sdkclient.StartWorkflowOptions{
		ID: "bare-signalled/" + domain.NewID(), TaskQueue: bareSignalled, EnableEagerStart: true,
	}, bareSignalled)
	if err != nil {
		return 0, err
	}
	if err := s.client.SignalWorkflow(ctx, run.GetID(), run.GetRunID(), bareGo, nil); err != nil {
		return 0, err
	}
	err = run.Get(ctx, nil)
	return time.Since(started), err
}

// roundTrips measures one command at a time.
func (b *bench) roundTrips(ctx context.Context, m *machineSite, shell *sshServer) ([]Row, error) {
	b.say("one command after the other")
	bare, err := openSignalled(b.servers)
	if err != nil {
		return nil, err
	}
	defer bare.close()
	var ours, workflows, shells times
	const warm = 5
	for i := range warm + b.samples(200) {
		took, err := m.execute(ctx, "true")
		if err != nil {
			return nil, err
		}
		of, err := bare.once(ctx)
		if err != nil {
			return nil, fmt.Errorf("the reference: %w", err)
		}
		by, err := shell.run(ctx, "true")
		if err != nil {
			return nil, err
		}
		if i >= warm {
			ours, workflows, shells = append(ours, took), append(workflows, of), append(shells, by)
		}
	}
	row := compare("a command, from the request to the answer", ours, workflows, signalledReference, commandLimit)
	row.Ratio = 0 // the limit is one of ours alone
	return []Row{row, compare("the same", ours, shells, sshReference, 0)}, nil
}

// outputRate measures how fast a command can write.
func (b *bench) outputRate(ctx context.Context, m *machineSite, shell *sshServer) ([]Row, error) {
	b.say("a command that writes much")
	command := fmt.Sprintf("head -c %d /dev/zero", rateOutput)
	var ours, shells time.Duration
	n := b.samples(6)
	for range n {
		took, err := m.execute(ctx, command)
		if err != nil {
			return nil, err
		}
		by, err := shell.run(ctx, command)
		if err != nil {
			return nil, err
		}
		ours, shells = ours+took, shells+by
	}
	rate := func(took time.Duration) float64 { return float64(n) * rateOutput / 1e6 / took.Seconds() }
	row := Row{Name: "output of a command; its first and last MiB are kept", Unit: "MB/s", Ours: rate(ours), Bare: rate(shells), Reference: "the same by ssh, all of it received"}
	row.Ratio = row.Ours / row.Bare
	return []Row{row}, nil
}

// longOutput measures by how much processes grow while a command writes a gigabyte.
func (b *bench) longOutput(ctx context.Context, m *machineSite) (rows []Row, err error) {
	b.say("a command that writes a gigabyte")
	of := map[string]int{"API and worker": m.process.Process.Pid, "agent": m.daemon.Process.Pid}
	risen := map[string]func() (float64, error){}
	for name, pid := range of {
		if risen[name], err = peak(pid); err != nil {
			return nil, err
		}
	}
	if _, err := m.execute(ctx, fmt.Sprintf("head -c %d /dev/zero", longOutput)); err != nil {
		return nil, err
	}
	for _, name := range []string{"API and worker", "agent"} {
		row := Row{Name: "1 GB of output: growth of " + name, Unit: "MB", Limit: outputLimit}
		if row.Ours, err = risen[name](); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}
