package main

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	pkgscheduling "sigs.k8s.io/karpenter/pkg/scheduling"
	nodeutils "sigs.k8s.io/karpenter/pkg/utils/node"
)

// Decision is the outcome of one scheduling pass, sorted so that equal decisions print alike.
type Decision struct {
	NewNodes      []NewNode           `json:"newNodes"`
	ExistingNodes map[string][]string `json:"existingNodes"` // node -> pods placed there now
	Unschedulable map[string]string   `json:"unschedulable"` // pod -> why
	Totals        Totals              `json:"totals"`
}

// NewNode is a node that Karpenter would launch, with everything it still leaves open.
type NewNode struct {
	NodePool      string            `json:"nodePool"`
	Pods          []string          `json:"pods"`
	InstanceTypes []string          `json:"instanceTypes"` // every type still possible, cheapest first, then by name
	Price         float64           `json:"price"`         // of the cheapest offering still possible
	Requirements  map[string]string `json:"requirements"`
}

// Totals sums up a decision and says what it took.
type Totals struct {
	Pods          int     `json:"pods"`
	NewNodes      int     `json:"newNodes"`
	Unschedulable int     `json:"unschedulable"`
	PricePerHour  float64 `json:"pricePerHour"`
	Effort
}

// Effort is the time and memory that a pass took.
type Effort struct {
	BuildMs     float64 `json:"buildMs"` // topology and scheduler construction
	SolveMs     float64 `json:"solveMs"` // Solve alone
	PeakHeapMiB float64 `json:"peakHeapMiB"`
}

// internalLabels exist inside the scheduler only; a launched NodeClaim does not have them.
var internalLabels = []string{corev1.LabelHostname, v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey}

func schedule(ctx context.Context, env *Environment, settings Settings) (*Decision, error) {
	nodes := env.cluster.DeepCopyNodes()
	pending, err := env.provisioner.GetPendingPods(ctx)
	if err != nil {
		return nil, err
	}
	refused, err := refusedPods(ctx, env, pending)
	if err != nil {
		return nil, err
	}
	displaced, err := nodes.Deleting().CurrentlyReschedulablePods(ctx, env.kube, env.clock, env.events)
	if err != nil {
		return nil, err
	}
	pods := append(pending, displaced...)
	results, effort, err := solve(ctx, pods, func() (*scheduling.Scheduler, error) {
		return env.provisioner.NewScheduler(ctx, pods, nodes.Active(), uids(displaced), schedulerOptions(settings)...)
	})
	if err != nil {
		return nil, err
	}
	decision := describe(results, refused)
	decision.Totals.Pods = len(pods) + len(refused)
	decision.Totals.Effort = effort
	return decision, nil
}

// solve runs the scheduler as the provisioner does, and measures it.
func solve(ctx context.Context, pods []*corev1.Pod, newScheduler func() (*scheduling.Scheduler, error)) (scheduling.Results, Effort, error) {
	peakHeap, start := watchHeap(), time.Now()
	scheduler, err := newScheduler()
	if errors.Is(err, provisioning.ErrNodePoolsNotFound) {
		return noNodePools(pods), Effort{PeakHeapMiB: peakHeap()}, nil
	}
	if err != nil {
		return scheduling.Results{}, Effort{}, err
	}
	built := time.Now()
	results, err := scheduler.Solve(ctx, pods)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return results, Effort{}, err
	}
	results = results.TruncateInstanceTypes(ctx, scheduling.MaxInstanceTypes)
	solved := time.Now()
	return results, Effort{milliseconds(built.Sub(start)), milliseconds(solved.Sub(built)), peakHeap()}, nil
}

// noNodePools is the outcome without a NodePool: there is nothing to schedule with, and no pod is placed.
func noNodePools(pods []*corev1.Pod) scheduling.Results {
	reason := errors.New("no dynamic nodepools found")
	return scheduling.Results{PodErrors: lo.SliceToMap(pods, func(p *corev1.Pod) (*corev1.Pod, error) { return p, reason })}
}

// schedulerOptions returns the options that the provisioner itself passes.
func schedulerOptions(settings Settings) []scheduling.Options {
	opts := []scheduling.Options{
		scheduling.DisableReservedCapacityFallback,
		scheduling.NumConcurrentReconciles(lo.Ternary(settings.Concurrency > 0, settings.Concurrency, runtime.NumCPU())),
		scheduling.MinValuesPolicy(options.MinValuesPolicy(settings.MinValues)),
	}
	if settings.Preferences == string(options.PreferencePolicyIgnore) {
		opts = append(opts, scheduling.IgnorePreferences)
	}
	return opts
}

// refusedPods returns the provisionable pods that fail validation and so never reach the scheduler, with the reason.
func refusedPods(ctx context.Context, env *Environment, accepted []*corev1.Pod) (map[string]string, error) {
	all, err := nodeutils.GetProvisionablePods(ctx, env.kube)
	if err != nil {
		return nil, err
	}
	isAccepted := uids(accepted)
	refused := map[string]string{}
	for _, pod := range all {
		if !isAccepted.Has(pod.UID) {
			refused[key(pod)] = "ignoring pod, " + env.provisioner.Validate(ctx, pod).Error()
		}
	}
	return refused, nil
}

func describe(results scheduling.Results, refused map[string]string) *Decision {
	d := &Decision{
		NewNodes:      lo.Map(results.NewNodeClaims, func(n *scheduling.NodeClaim, _ int) NewNode { return describeNode(n) }),
		ExistingNodes: existingNodes(results),
		Unschedulable: lo.Assign(refused),
	}
	sort.SliceStable(d.NewNodes, func(i, j int) bool {
		return strings.Join(d.NewNodes[i].Pods, ",") < strings.Join(d.NewNodes[j].Pods, ",")
	})
	for pod, err := range results.PodErrors {
		d.Unschedulable[key(pod)] = err.Error()
	}
	d.Totals.NewNodes = len(d.NewNodes)
	d.Totals.Unschedulable = len(d.Unschedulable)
	d.Totals.PricePerHour = lo.SumBy(d.NewNodes, func(n NewNode) float64 { return n.Price })
	return d
}

func describeNode(n *scheduling.NodeClaim) NewNode {
	instanceTypes := slices.Clone(n.InstanceTypeOptions)
	sort.Slice(instanceTypes, func(i, j int) bool {
		if a, b := cheapest(instanceTypes[i], n.Requirements), cheapest(instanceTypes[j], n.Requirements); a != b {
			return a < b
		}
		return instanceTypes[i].Name < instanceTypes[j].Name
	})
	node := NewNode{
		NodePool:      n.NodePoolName,
		Pods:          names(n.Pods),
		InstanceTypes: lo.Map(instanceTypes, func(it *cloudprovider.InstanceType, _ int) string { return it.Name }),
		Requirements:  map[string]string{},
	}
	for label, requirement := range n.Requirements {
		if !slices.Contains(internalLabels, label) {
			node.Requirements[label] = strings.TrimPrefix(requirement.String(), label+" ")
		}
	}
	if len(instanceTypes) > 0 {
		node.Price = cheapest(instanceTypes[0], n.Requirements)
	}
	return node
}

// cheapest returns the lowest price at which the instance type can be launched under the requirements. It is
// infinite for a type that the scheduler keeps although none of its offerings is possible.
func cheapest(it *cloudprovider.InstanceType, requirements pkgscheduling.Requirements) float64 {
	possible := it.Offerings.Available().Compatible(requirements)
	if len(possible) == 0 {
		return math.Inf(1)
	}
	return possible.Cheapest().Price
}

// existingNodes returns, by node, the pods that were placed on nodes that exist already.
func existingNodes(results scheduling.Results) map[string][]string {
	placed := map[string][]string{}
	for _, n := range results.ExistingNodes {
		if len(n.Pods) > 0 {
			placed[n.Name()] = names(n.Pods)
		}
	}
	return placed
}

func names(pods []*corev1.Pod) []string {
	all := lo.Map(pods, func(p *corev1.Pod, _ int) string { return key(p) })
	sort.Strings(all)
	return all
}

func uids(pods []*corev1.Pod) sets.Set[types.UID] {
	return sets.New(lo.Map(pods, func(p *corev1.Pod, _ int) types.UID { return p.UID })...)
}

// watchHeap samples the size of the heap until the returned function is called, which returns the largest sample in MiB.
func watchHeap() func() float64 {
	done, peak := make(chan struct{}), make(chan float64)
	go func() {
		var most uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			select {
			case <-done:
				peak <- float64(most) / (1 << 20)
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() float64 { close(done); return <-peak }
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
