package main

import (
	"context"
	"strings"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	claimdisruption "sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/test"
)

// Environment is a cluster in which nothing moves by itself: an API server in memory, Karpenter's state
// of it, and a clock that we set.
type Environment struct {
	kube        client.Client
	cloud       cloudprovider.CloudProvider // with the NodeOverlays applied
	clock       *skippingClock
	cluster     *state.Cluster
	events      *test.EventRecorder
	provisioner *provisioning.Provisioner
	claims      []*v1.NodeClaim
}

// skippingClock stands still until somebody waits on it. It then skips the wait, so that waiting takes no time.
type skippingClock struct{ *clocktesting.FakeClock }

func (c *skippingClock) After(d time.Duration) <-chan time.Time {
	c.Step(d)
	fired := make(chan time.Time, 1)
	fired <- c.Now()
	return fired
}

func newEnvironment(ctx context.Context, settings Settings, objects []client.Object, instanceTypes []*cloudprovider.InstanceType) (*Environment, error) {
	env := &Environment{
		kube:   newClient(objects),
		clock:  &skippingClock{clocktesting.NewFakeClock(settings.Now)},
		events: test.NewEventRecorder(),
	}
	catalogue := &provider{types: instanceTypes}
	overlays := nodeoverlay.NewInstanceTypeStore()
	env.cloud = overlay.Decorate(catalogue, env.kube, overlays)
	env.cluster = state.NewCluster(env.clock, env.kube, env.cloud)
	env.provisioner = provisioning.NewProvisioner(env.kube, env.events, env.cloud, env.cluster, env.clock, nil, nil)
	// Karpenter's own controller applies NodeOverlays to the catalogue.
	if _, err := nodeoverlay.NewController(env.clock, env.kube, catalogue, overlays, env.cluster).Reconcile(ctx, reconcile.Request{}); err != nil {
		return nil, err
	}
	if err := env.fillState(ctx, objects); err != nil {
		return nil, err
	}
	nominated := strings.Split(settings.Nominated, ",")
	for _, node := range env.cluster.DeepCopyNodes() {
		if lo.Contains(nominated, node.Name()) {
			env.cluster.NominateNodeForPod(ctx, node.ProviderID())
		}
	}
	return env, nil
}

// newClient returns a client of an API server in memory, with the indexes that Karpenter's operator sets up.
func newClient(objects []client.Object) client.Client {
	return fakeclient.NewClientBuilder().WithScheme(scheme.Scheme).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).
		WithIndex(&corev1.Node{}, "spec.providerID", func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }).
		WithIndex(&v1.NodeClaim{}, "status.providerID", func(o client.Object) []string { return []string{o.(*v1.NodeClaim).Status.ProviderID} }).
		WithStatusSubresource(&v1.NodeClaim{}, &v1alpha1.NodeOverlay{}).
		WithInterceptorFuncs(interceptor.Funcs{Get: getIgnoringNamespace}).
		WithObjects(objects...).Build()
}

// getIgnoringNamespace ignores a namespace in the key of a cluster-scoped object. A real API server does so
// too, the in-memory one does not, and Karpenter reads PersistentVolumes with such keys.
func getIgnoringNamespace(ctx context.Context, kube client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if !isNamespaced(object) {
		key.Namespace = ""
	}
	return kube.Get(ctx, key, object, opts...)
}

// fillState passes every object to the cluster state: NodeClaims before their Nodes, and Nodes before the
// pods that are bound to them.
func (env *Environment) fillState(ctx context.Context, objects []client.Object) error {
	for _, o := range objects {
		if claim, ok := o.(*v1.NodeClaim); ok {
			updated, err := env.withDisruptionConditions(ctx, claim)
			if err != nil {
				return err
			}
			env.claims = append(env.claims, updated)
			env.cluster.UpdateNodeClaim(updated)
		}
	}
	for _, o := range objects {
		switch object := o.(type) {
		case *corev1.Node:
			if err := env.cluster.UpdateNode(ctx, object.DeepCopy()); err != nil {
				return err
			}
		case *appsv1.DaemonSet:
			if err := env.cluster.UpdateDaemonSet(ctx, object); err != nil {
				return err
			}
		}
	}
	for _, o := range objects {
		if pod, ok := o.(*corev1.Pod); ok {
			if err := env.cluster.UpdatePod(ctx, pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// withDisruptionConditions lets Karpenter's own controller set Consolidatable and Drifted. If the scenario
// sets one of them, the scenario wins.
func (env *Environment) withDisruptionConditions(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	updated := &v1.NodeClaim{}
	if err := env.kube.Get(ctx, client.ObjectKeyFromObject(claim), updated); err != nil {
		return nil, err
	}
	if _, err := claimdisruption.NewController(env.clock, env.kube, env.cloud).Reconcile(ctx, updated); err != nil {
		return nil, err
	}
	for _, given := range claim.Status.Conditions {
		if given.Type == v1.ConditionTypeConsolidatable || given.Type == v1.ConditionTypeDrifted {
			others := lo.Reject(updated.Status.Conditions, func(c status.Condition, _ int) bool { return c.Type == given.Type })
			updated.Status.Conditions = append(others, given)
		}
	}
	return updated, nil
}
