package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// nodeAge is how long ago an existing node was launched, unless the scenario says otherwise.
const nodeAge = 24 * time.Hour

// withDefaults fills in what an API server, a kubelet and the lifecycle controllers would have filled in.
// What the scenario sets is never changed.
func withDefaults(objects []client.Object, instanceTypes []*cloudprovider.InstanceType, now time.Time) []client.Object {
	objects = append(objects, missingNamespaces(objects)...)
	priorities := map[string]int32{"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}
	for _, o := range objects {
		if class, ok := o.(*schedulingv1.PriorityClass); ok {
			priorities[class.Name] = class.Value
		}
	}
	for i, o := range objects {
		fillMetadata(o, i)
		switch object := o.(type) {
		case *corev1.Namespace:
			object.Labels = lo.Assign(map[string]string{corev1.LabelMetadataName: object.Name}, object.Labels)
		case *corev1.Pod:
			fillPod(object, priorities)
		case *appsv1.DaemonSet:
			fillPodSpec(&object.Spec.Template.Spec, priorities)
		case *v1.NodePool:
			fillNodePool(object)
		case *storagev1.StorageClass:
			object.VolumeBindingMode = lo.CoalesceOrEmpty(object.VolumeBindingMode, lo.ToPtr(storagev1.VolumeBindingImmediate))
		case *corev1.PersistentVolumeClaim:
			object.Status.Phase = lo.CoalesceOrEmpty(object.Status.Phase, lo.Ternary(object.Spec.VolumeName == "", corev1.ClaimPending, corev1.ClaimBound))
		}
	}
	fillNodes(objects, instanceTypes, now)
	return objects
}

// missingNamespaces returns a Namespace for each one that is used and not in the scenario.
func missingNamespaces(objects []client.Object) []client.Object {
	declared, used := sets.New[string](), sets.New[string]()
	for _, o := range objects {
		switch object := o.(type) {
		case *corev1.Namespace:
			declared.Insert(object.Name)
		case *corev1.Pod, *appsv1.DaemonSet, *corev1.PersistentVolumeClaim:
			used.Insert(lo.CoalesceOrEmpty(object.GetNamespace(), metav1.NamespaceDefault))
		}
	}
	return lo.Map(sets.List(used.Difference(declared)), func(name string, _ int) client.Object {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	})
}

// fillMetadata gives an object its UID and age. The place in the file decides the age: earlier means older.
func fillMetadata(o client.Object, place int) {
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", place)))
	}
	if o.GetNamespace() == "" && isNamespaced(o) {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	if o.GetCreationTimestamp().Time.IsZero() && !isNodeOrClaim(o) {
		o.SetCreationTimestamp(metav1.Unix(int64(place), 0))
	}
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		o.SetFinalizers([]string{v1.TerminationFinalizer}) // an object without one would be gone already
	}
}

func isNamespaced(o client.Object) bool {
	switch o.(type) {
	case *corev1.Node, *corev1.Namespace, *corev1.PersistentVolume, *storagev1.StorageClass, *storagev1.CSINode, *schedulingv1.PriorityClass, *v1.NodePool, *v1.NodeClaim, *v1alpha1.NodeOverlay:
		return false
	}
	return true
}

// isNodeOrClaim reports whether the age of an object follows from nodeAge, not from its place in the file.
func isNodeOrClaim(o client.Object) bool {
	switch o.(type) {
	case *corev1.Node, *v1.NodeClaim:
		return true
	}
	return false
}

// fillPod makes a bound pod run, and an unbound one pend as kube-scheduler leaves it.
func fillPod(pod *corev1.Pod, priorities map[string]int32) {
	fillPodSpec(&pod.Spec, priorities)
	bound := pod.Spec.NodeName != ""
	pod.Status.Phase = lo.CoalesceOrEmpty(pod.Status.Phase, lo.Ternary(bound, corev1.PodRunning, corev1.PodPending))
	if bound || len(pod.Status.Conditions) > 0 {
		return
	}
	pod.Status.Conditions = []corev1.PodCondition{{
		Type:   corev1.PodScheduled,
		Status: corev1.ConditionFalse,
		Reason: lo.Ternary(len(pod.Spec.SchedulingGates) > 0, corev1.PodReasonSchedulingGated, corev1.PodReasonUnschedulable),
	}}
}

func fillPodSpec(spec *corev1.PodSpec, priorities map[string]int32) {
	if value, ok := priorities[spec.PriorityClassName]; ok && spec.Priority == nil {
		spec.Priority = lo.ToPtr(value)
	}
	fillContainers(spec.InitContainers, false)
	fillContainers(spec.Containers, spec.HostNetwork)
	if spec.Resources != nil {
		spec.Resources.Requests = lo.Assign(spec.Resources.Limits, spec.Resources.Requests)
	}
}

func fillContainers(containers []corev1.Container, hostNetwork bool) {
	for i := range containers {
		resources := &containers[i].Resources
		if len(resources.Limits) > 0 {
			resources.Requests = lo.Assign(resources.Limits, resources.Requests)
		}
		for j := range containers[i].Ports {
			port := &containers[i].Ports[j]
			port.Protocol = lo.CoalesceOrEmpty(port.Protocol, corev1.ProtocolTCP)
			if hostNetwork && port.HostPort == 0 {
				port.HostPort = port.ContainerPort
			}
		}
	}
}

func fillNodePool(pool *v1.NodePool) {
	disruption := &pool.Spec.Disruption
	disruption.ConsolidationPolicy = lo.CoalesceOrEmpty(disruption.ConsolidationPolicy, v1.ConsolidationPolicyWhenEmptyOrUnderutilized)
	if disruption.Budgets == nil {
		disruption.Budgets = []v1.Budget{{}}
	}
	for i := range disruption.Budgets {
		disruption.Budgets[i].Nodes = lo.CoalesceOrEmpty(disruption.Budgets[i].Nodes, "10%")
	}
	given := lo.Map(pool.Status.Conditions, func(c status.Condition, _ int) string { return c.Type })
	for _, condition := range []string{v1.ConditionTypeValidationSucceeded, v1.ConditionTypeNodeClassReady, v1.ConditionTypeNodeRegistrationHealthy} {
		if !lo.Contains(given, condition) {
			pool.StatusConditions().SetTrue(condition) // Ready becomes true with the last of them
		}
	}
	for i := range pool.Status.Conditions {
		pool.Status.Conditions[i].LastTransitionTime = pool.CreationTimestamp
	}
}

// fillNodes completes Nodes and NodeClaims. A NodeClaim belongs to the Node of the same name, to the one that
// its status names, or to the one with its provider ID. A NodeClaim without a Node is in flight.
func fillNodes(objects []client.Object, instanceTypes []*cloudprovider.InstanceType, now time.Time) {
	types := lo.KeyBy(instanceTypes, func(it *cloudprovider.InstanceType) string { return it.Name })
	nodes := lo.FilterMap(objects, func(o client.Object, _ int) (*corev1.Node, bool) { n, ok := o.(*corev1.Node); return n, ok })
	claims := lo.FilterMap(objects, func(o client.Object, _ int) (*v1.NodeClaim, bool) { c, ok := o.(*v1.NodeClaim); return c, ok })
	for i, claim := range claims {
		if claim.CreationTimestamp.IsZero() {
			claim.CreationTimestamp = metav1.NewTime(now.Add(time.Duration(i)*time.Second - nodeAge))
		}
		node, _ := lo.Find(nodes, func(n *corev1.Node) bool { return belongTogether(claim, n) })
		fillClaim(claim, node, types)
		if node != nil {
			fillManagedNode(node, claim)
		}
	}
	for _, node := range nodes {
		if node.CreationTimestamp.IsZero() {
			node.CreationTimestamp = metav1.NewTime(now.Add(-nodeAge))
		}
		fillNode(node, types)
	}
}

func belongTogether(claim *v1.NodeClaim, node *corev1.Node) bool {
	if node.Spec.ProviderID != "" && node.Spec.ProviderID == claim.Status.ProviderID {
		return true
	}
	return node.Name == lo.CoalesceOrEmpty(claim.Status.NodeName, claim.Name)
}

// fillNode sets what a kubelet would have reported.
func fillNode(node *corev1.Node, types map[string]*cloudprovider.InstanceType) {
	node.Spec.ProviderID = lo.CoalesceOrEmpty(node.Spec.ProviderID, providerID(node.Name))
	fillFromType(&node.ObjectMeta, &node.Status.Capacity, &node.Status.Allocatable, types)
	node.Labels = lo.Assign(map[string]string{corev1.LabelHostname: node.Name}, node.Labels)
	if len(node.Status.Conditions) == 0 {
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	}
}

func providerID(name string) string { return "oracle://" + name }

// fillClaim sets what launching has written on a NodeClaim, and with a Node also registration and initialization.
func fillClaim(claim *v1.NodeClaim, node *corev1.Node, types map[string]*cloudprovider.InstanceType) {
	if claim.Spec.NodeClassRef == nil {
		claim.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default"}
	}
	class := claim.Spec.NodeClassRef
	claim.Labels = lo.Assign(map[string]string{v1.NodeClassLabelKey(class.GroupKind()): class.Name}, claim.Labels)
	fillFromType(&claim.ObjectMeta, &claim.Status.Capacity, &claim.Status.Allocatable, types)
	fillClaimConditions(claim, node != nil)
	if node != nil {
		claim.Status.NodeName = node.Name
	}
	if claim.Status.ProviderID == "" && claim.StatusConditions().IsTrue(v1.ConditionTypeLaunched) {
		claim.Status.ProviderID = providerID(lo.CoalesceOrEmpty(claim.Status.NodeName, claim.Name))
	}
}

func fillClaimConditions(claim *v1.NodeClaim, hasNode bool) {
	reached := []string{v1.ConditionTypeLaunched}
	if hasNode {
		reached = append(reached, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized)
	}
	for _, condition := range reached {
		if !lo.ContainsBy(claim.Status.Conditions, func(c status.Condition) bool { return c.Type == condition }) {
			claim.Status.Conditions = append(claim.Status.Conditions, status.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: condition})
		}
	}
	for i := range claim.Status.Conditions {
		if condition := &claim.Status.Conditions[i]; condition.LastTransitionTime.IsZero() {
			condition.LastTransitionTime = claim.CreationTimestamp
		}
	}
}

// fillManagedNode sets what registration and initialization have written on a Node.
func fillManagedNode(node *corev1.Node, claim *v1.NodeClaim) {
	node.Spec.ProviderID = lo.CoalesceOrEmpty(node.Spec.ProviderID, claim.Status.ProviderID)
	if node.CreationTimestamp.IsZero() {
		node.CreationTimestamp = claim.CreationTimestamp
	}
	if !claim.StatusConditions().IsTrue(v1.ConditionTypeRegistered) {
		return
	}
	lifecycle := map[string]string{v1.NodeRegisteredLabelKey: "true"}
	if claim.StatusConditions().IsTrue(v1.ConditionTypeInitialized) {
		lifecycle[v1.NodeInitializedLabelKey] = "true"
	}
	node.Labels = lo.Assign(claim.Labels, lifecycle, node.Labels)
}

// fillFromType sets what follows from the instance type that the label names: resources and single-valued labels.
func fillFromType(meta *metav1.ObjectMeta, capacity, allocatable *corev1.ResourceList, types map[string]*cloudprovider.InstanceType) {
	it, ok := types[meta.Labels[corev1.LabelInstanceTypeStable]]
	if !ok {
		return
	}
	if *capacity == nil {
		*capacity = it.Capacity.DeepCopy()
	}
	if *allocatable == nil {
		*allocatable = it.Allocatable().DeepCopy()
	}
	labels := map[string]string{}
	for key, requirement := range it.Requirements {
		if requirement.Operator() == corev1.NodeSelectorOpIn && requirement.Len() == 1 {
			labels[key] = requirement.Any()
		}
	}
	meta.Labels = lo.Assign(labels, meta.Labels)
}

// key returns the name of an object in the output: NAMESPACE/NAME, or NAME alone for a cluster-scoped one.
func key(o client.Object) string { return strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/") }
