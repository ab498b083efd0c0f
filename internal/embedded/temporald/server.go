package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	clusterName = "active"
	loopback    = "127.0.0.1"
)

func newServer(s Settings, store stores, logger log.Logger) (temporal.Server, error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	ports = append([]int{s.Port}, ports...)
	services := map[string]config.Service{}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for i, name := range []primitives.ServiceName{
		primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService,
	} {
		services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: ports[i], BindOnIP: loopback}}
		hosts[name] = static.Hosts{All: []string{hostPort(ports[i])}, Self: hostPort(ports[i])}
	}
	server, err := temporal.NewServer(
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithConfig(serverConfig(s, store, services)),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(logger),
		temporal.WithDynamicConfigClient(dynamicSettings()),
	)
	if err != nil {
		return nil, fmt.Errorf("set the server up: %w", err)
	}
	return server, nil
}

func serverConfig(s Settings, store stores, services map[string]config.Service) *config.Config {
	return &config.Config{
		Persistence: config.Persistence{
			DefaultStore: "main", VisibilityStore: "visibility", NumHistoryShards: s.Shards,
			DataStores: map[string]config.DataStore{
				"main": {SQL: &store.main}, "visibility": {SQL: &store.visibility},
			},
		},
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: hostPort(s.Port)},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            services,
		PublicClient:        config.PublicClient{HostPort: hostPort(s.Port)},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}
}

// dynamicSettings fit the server to one node with one user of its API.
func dynamicSettings() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		// Nothing is asked of, or told to, the outside.
		dynamicconfig.EnableServerVersionCheck.Key(): false,
		// A cancellation reaches a worker at once, not only with a heartbeat's answer.
		dynamicconfig.EnableCancelActivityWorkerCommand.Key(): true,
		// One partition: a task is never forwarded, and hundreds a second still pass.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
		// With the default of 20 a second, a busy shard holds each task back for up to 50 ms.
		dynamicconfig.TransferProcessorMaxPollRPS.Key(): 1000,
		// The limits are for clusters that many share.
		dynamicconfig.FrontendRPS.Key():                                  20000,
		dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key():           20000,
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 1000,
		dynamicconfig.FrontendPersistenceMaxQPS.Key():                    20000,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():                     20000,
		dynamicconfig.MatchingPersistenceMaxQPS.Key():                    20000,
	}
}

func newUI(s Settings) *uiserver.Server {
	return uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		TemporalGRPCAddress: hostPort(s.Port),
		Host:                loopback,
		Port:                s.UIPort,
		EnableUI:            true,
		PublicPath:          s.UIPath,
		DefaultNamespace:    s.Namespace,
		DisableNewsFetch:    true,
		HideLogs:            true,
		Distribution:        "server",
		CORS:                uiconfig.CORS{CookieInsecure: true}, // plain HTTP on the loopback interface
		// The browser's cookie of the API's sign-in shows who asks to have payloads decoded.
		Codec: uiconfig.Codec{Endpoint: s.CodecEndpoint, IncludeCredentials: s.CodecEndpoint != ""},
	}))
}

// awaitReady waits until the frontend serves the namespace and the UI answers.
func awaitReady(ctx context.Context, s Settings, uiEnd <-chan error) error {
	conn, err := grpc.NewClient(hostPort(s.Port), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("connect to the frontend: %w", err)
	}
	defer conn.Close()
	frontend := workflowservice.NewWorkflowServiceClient(conn)
	for {
		if err = probe(ctx, s, frontend); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stopped before it was ready: %w", err)
		case err := <-uiEnd:
			return fmt.Errorf("the web UI did not start: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func probe(ctx context.Context, s Settings, frontend workflowservice.WorkflowServiceClient) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := frontend.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: s.Namespace, PageSize: 1,
	}); err != nil {
		return fmt.Errorf("ask the frontend: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+hostPort(s.UIPort)+s.UIPath+"/healthz", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask the web UI: %w", err)
	}
	return answer.Body.Close()
}

func hostPort(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// freePorts finds n ports for services that only talk to each other.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		listener, err := net.Listen("tcp", loopback+":0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
