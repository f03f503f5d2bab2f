// A client as most of the world writes them: typed, speaking protobuf, with a shared informer. It talks to the server
// named by the kubeconfig it is given, and prints what it saw as one JSON object.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	namespace = "go-client"
	protobuf  = "application/vnd.kubernetes.protobuf"
	patience  = 30 * time.Second
)

// What the program saw; the test compares it.
type report struct {
	ServerVersion string            `json:"serverVersion"`
	Created       []string          `json:"created"`
	Replicas      int32             `json:"replicas"`
	CPU           string            `json:"cpu"`
	MinAvailable  string            `json:"minAvailable"`
	LeaseHolder   string            `json:"leaseHolder"`
	Refused       map[string]string `json:"refused"`
	Synced        bool              `json:"synced"`
	Events        []string          `json:"events"`
	Cached        []string          `json:"cached"`
}

func main() {
	if len(os.Args) != 2 {
		fail(errors.New("usage: client KUBECONFIG"))
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	fail(err)
	config.ContentType = protobuf
	config.AcceptContentTypes = protobuf + ",application/json"
	client, err := kubernetes.NewForConfig(config)
	fail(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	seen := &report{Refused: map[string]string{}}
	version, err := client.Discovery().ServerVersion()
	fail(err)
	seen.ServerVersion = version.GitVersion
	createAll(ctx, client, seen)
	refusals(ctx, client, seen)
	inform(ctx, client, seen)
	fail(json.NewEncoder(os.Stdout).Encode(seen))
}

func createAll(ctx context.Context, client kubernetes.Interface, seen *report) {
	note := func(object metav1.Object, err error) {
		fail(err)
		if object.GetUID() == "" || object.GetResourceVersion() == "" {
			fail(fmt.Errorf("%s came back without uid or resourceVersion", object.GetName()))
		}
		seen.Created = append(seen.Created, object.GetName())
	}
	made, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	note(made, err)

	app := map[string]string{"app": "web"}
	replicas := int32(2)
	deployment, err := client.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: podSpec()},
		},
	}, metav1.CreateOptions{})
	note(deployment, err)
	seen.Replicas = *deployment.Spec.Replicas
	seen.CPU = deployment.Spec.Template.Spec.Containers[0].Resources.Requests.Cpu().String()

	half := intstr.FromString("50%")
	budget, err := client.PolicyV1().PodDisruptionBudgets(namespace).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &half, Selector: &metav1.LabelSelector{MatchLabels: app}},
	}, metav1.CreateOptions{})
	note(budget, err)
	seen.MinAvailable = budget.Spec.MinAvailable.String()

	holder, renewed := "go-client", metav1.NewMicroTime(time.Now())
	lease, err := client.CoordinationV1().Leases(namespace).Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "leader"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed},
	}, metav1.CreateOptions{})
	note(lease, err)
	seen.LeaseHolder = *lease.Spec.HolderIdentity
}

// What the server says no to arrives as the typed errors Go programs switch on.
func refusals(ctx context.Context, client kubernetes.Interface, seen *report) {
	maps := client.CoreV1().ConfigMaps(namespace)
	_, err := maps.Get(ctx, "missing", metav1.GetOptions{})
	seen.Refused["get"] = string(apierrors.ReasonForError(err))
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"a": "1"}}
	made, err := maps.Create(ctx, settings, metav1.CreateOptions{})
	fail(err)
	_, err = maps.Create(ctx, settings, metav1.CreateOptions{})
	seen.Refused["create"] = string(apierrors.ReasonForError(err))
	_, err = maps.Patch(ctx, "settings", types.MergePatchType, []byte(`{"data":{"b":"2"}}`), metav1.PatchOptions{})
	fail(err)
	_, err = maps.Update(ctx, made, metav1.UpdateOptions{})
	seen.Refused["update"] = string(apierrors.ReasonForError(err))
}

// Runs a shared informer over pods while pods come, change and go.
func inform(ctx context.Context, client kubernetes.Interface, seen *report) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "made-by=go" }))
	informer := factory.Core().V1().Pods()
	var mutex sync.Mutex
	note := func(event string, object any) {
		if gone, isGone := object.(cache.DeletedFinalStateUnknown); isGone {
			object = gone.Obj
		}
		mutex.Lock()
		defer mutex.Unlock()
		seen.Events = append(seen.Events, event+" "+object.(*corev1.Pod).Name)
	}
	told := func(event string) bool {
		mutex.Lock()
		defer mutex.Unlock()
		for _, one := range seen.Events {
			if one == event {
				return true
			}
		}
		return false
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { note("added", object) },
		UpdateFunc: func(old, object any) {
			// Only our own change: a scheduler may write to the pod as well, before or after it.
			if old.(*corev1.Pod).Labels["phase"] != "changed" && object.(*corev1.Pod).Labels["phase"] == "changed" {
				note("changed", object)
			}
		},
		DeleteFunc: func(object any) { note("deleted", object) },
	})
	fail(err)

	createPod(ctx, client, "early")
	stopping, stop := context.WithCancel(ctx)
	factory.Start(stopping.Done())
	for _, isSynced := range factory.WaitForCacheSync(ctx.Done()) {
		seen.Synced = isSynced
	}
	createPod(ctx, client, "late")
	until(ctx, "late is added", func() bool { return told("added late") })
	_, err = client.CoreV1().Pods(namespace).Patch(ctx, "late", types.StrategicMergePatchType,
		[]byte(`{"metadata":{"labels":{"phase":"changed"}}}`), metav1.PatchOptions{})
	fail(err)
	until(ctx, "late is changed", func() bool { return told("changed late") })
	now := int64(0)
	fail(client.CoreV1().Pods(namespace).Delete(ctx, "early", metav1.DeleteOptions{GracePeriodSeconds: &now}))
	until(ctx, "early is deleted", func() bool { return told("deleted early") })

	pods, err := informer.Lister().List(labels.Everything())
	fail(err)
	for _, pod := range pods {
		seen.Cached = append(seen.Cached, pod.Name)
	}
	sort.Strings(seen.Cached)
	stop()
	factory.Shutdown()
}

func createPod(ctx context.Context, client kubernetes.Interface, name string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"made-by": "go"}}, Spec: podSpec()}
	_, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	fail(err)
}

func podSpec() corev1.PodSpec {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1", Resources: corev1.ResourceRequirements{Requests: requests}}}}
}

func until(ctx context.Context, what string, isTrue func() bool) {
	for !isTrue() {
		select {
		case <-ctx.Done():
			fail(fmt.Errorf("waiting until %s: %w", what, ctx.Err()))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func fail(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
