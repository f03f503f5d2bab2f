package main

import (
	"context"
	"fmt"
	"maps"
	"sort"
	"time"

	"github.com/samber/lo"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/state/cost"
)

// Disruption is what one pass of the disruption loop would do. Every method is asked about the same
// unchanged cluster; the loop itself stops at the first method that has a command.
type Disruption struct {
	Acts    string           `json:"acts"` // the method that acts, or "none"
	Methods []MethodDecision `json:"methods"`
	Totals  DisruptionTotals `json:"totals"`
}

// MethodDecision is what one disruption method would do if it were its turn.
type MethodDecision struct {
	Method     string         `json:"method"`
	Reason     string         `json:"reason"`
	Candidates []string       `json:"candidates"`
	Budgets    map[string]int `json:"budgets,omitempty"` // pool -> nodes it may still lose for this reason
	Commands   []Command      `json:"commands"`
	Events     []Event        `json:"events,omitempty"`
	Ms         float64        `json:"ms"` // candidates to commands
}

// Command disrupts nodes together, once their replacements are ready.
type Command struct {
	Decision      string              `json:"decision"` // delete or replace
	Nodes         []string            `json:"nodes"`
	Replacements  []Replacement       `json:"replacements"`
	ExistingNodes map[string][]string `json:"existingNodes"` // node -> pods the simulation moved there
	Savings       float64             `json:"savings"`
}

// Replacement is a node to launch before the nodes of a command go.
type Replacement struct {
	NewNode
	CapacityType string `json:"capacityType"`
}

// Event is a Kubernetes event that a method publishes, mostly to say why it does nothing.
type Event struct {
	Object  string `json:"object"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// DisruptionTotals sums up the cluster and the command that would be carried out.
type DisruptionTotals struct {
	Nodes        int     `json:"nodes"`
	PricePerHour float64 `json:"pricePerHour"` // of all priced NodeClaims, now
	Savings      float64 `json:"savings"`      // of what the acting method commands
}

func disrupt(ctx context.Context, env *Environment, settings Settings) (*Disruption, error) {
	queue := disruption.NewQueue(env.kube, env.events, env.cluster, env.clock, env.provisioner)
	clusterCost := cost.NewClusterCost(ctx, env.cloud, env.kube)
	for _, claim := range env.claims {
		if err := client.IgnoreNotFound(clusterCost.UpdateNodeClaim(ctx, claim)); err != nil {
			return nil, err
		}
	}
	out := &Disruption{Acts: "none", Totals: DisruptionTotals{Nodes: len(env.cluster.DeepCopyNodes()), PricePerHour: clusterCost.GetClusterCost()}}
	for _, method := range disruption.NewMethods(env.clock, env.cluster, env.kube, env.provisioner, env.cloud, env.events, queue) {
		env.clock.SetTime(settings.Now)
		env.events.Reset()
		start := time.Now()
		decision, err := evaluate(ctx, env, method, queue, clusterCost)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", methodName(method), err)
		}
		decision.Ms = milliseconds(time.Since(start))
		if len(decision.Commands) > 0 && out.Acts == "none" {
			out.Acts = decision.Method
			out.Totals.Savings = lo.SumBy(decision.Commands, func(c Command) float64 { return c.Savings })
		}
		out.Methods = append(out.Methods, *decision)
	}
	return out, nil
}

// evaluate takes one method through the steps of the disruption loop, up to the commands, which it does not start.
func evaluate(ctx context.Context, env *Environment, method disruption.Method, queue *disruption.Queue, clusterCost *cost.ClusterCost) (*MethodDecision, error) {
	out := &MethodDecision{Method: methodName(method), Reason: string(method.Reason()), Commands: []Command{}}
	candidates, totals, err := disruption.GetCandidatesWithTotals(ctx, env.cluster, env.kube, env.events, env.clock, env.cloud, method.ShouldDisrupt, method.Class(), queue, clusterCost)
	if err != nil {
		return nil, err
	}
	out.Candidates = nodeNames(candidates)
	if len(candidates) > 0 {
		if setter, ok := method.(disruption.NodePoolTotalsSetter); ok {
			setter.SetNodePoolTotals(totals)
		}
		budgets, err := disruption.BuildDisruptionBudgetMapping(ctx, env.cluster, env.clock, env.kube, env.cloud, env.events, method.Reason())
		if err != nil {
			return nil, err
		}
		out.Budgets = maps.Clone(budgets) // ComputeCommands subtracts from the original
		commands, err := method.ComputeCommands(ctx, budgets, candidates...)
		if err != nil {
			return nil, err
		}
		for _, command := range commands {
			if command.Decision() != disruption.NoOpDecision {
				out.Commands = append(out.Commands, describeCommand(command))
			}
		}
		sort.Slice(out.Commands, func(i, j int) bool { return out.Commands[i].Nodes[0] < out.Commands[j].Nodes[0] })
	}
	out.Events = describeEvents(env.events.Events())
	return out, nil
}

func describeCommand(command disruption.Command) Command {
	return Command{
		Decision: string(command.Decision()),
		Nodes:    nodeNames(command.Candidates),
		Replacements: lo.Map(command.Replacements, func(r *disruption.Replacement, _ int) Replacement {
			allowed := r.Requirements.Get(v1.CapacityTypeLabelKey)
			first, _ := lo.Find([]string{v1.CapacityTypeReserved, v1.CapacityTypeSpot, v1.CapacityTypeOnDemand}, allowed.Has)
			return Replacement{NewNode: describeNode(r.NodeClaim), CapacityType: first}
		}),
		ExistingNodes: existingNodes(command.Results),
		Savings:       command.EstimatedSavings(),
	}
}

// describeEvents lists the events about Nodes, NodePools and pods, once each. Karpenter publishes an event
// about a Node for its NodeClaim too; those are left out.
func describeEvents(published []events.Event) []Event {
	all := lo.FilterMap(published, func(e events.Event, _ int) (Event, bool) {
		object := e.InvolvedObject.(client.Object)
		_, isRepeated := object.(*v1.NodeClaim)
		return Event{Object: fmt.Sprintf("%s/%s", kindOf(object), key(object)), Reason: e.Reason, Message: e.Message}, !isRepeated
	})
	all = lo.Uniq(all)
	sort.Slice(all, func(i, j int) bool { return fmt.Sprint(all[i]) < fmt.Sprint(all[j]) })
	return all
}

func kindOf(o client.Object) string {
	return withKinds([]client.Object{o.DeepCopyObject().(client.Object)})[0].GetObjectKind().GroupVersionKind().Kind
}

func nodeNames(candidates []*disruption.Candidate) []string {
	all := lo.Map(candidates, func(c *disruption.Candidate, _ int) string { return c.Name() })
	sort.Strings(all)
	return all
}

func methodName(method disruption.Method) string {
	switch method.(type) {
	case *disruption.Emptiness:
		return "emptiness"
	case *disruption.StaticDrift:
		return "static-drift"
	case *disruption.Drift:
		return "drift"
	case *disruption.MultiNodeConsolidation:
		return "multi-node-consolidation"
	case *disruption.SingleNodeConsolidation:
		return "single-node-consolidation"
	}
	return fmt.Sprintf("%T", method)
}
