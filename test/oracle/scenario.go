package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// loadObjects reads several files as one scenario.
func loadObjects(files []string) ([]client.Object, error) {
	var objects []client.Object
	for _, file := range files {
		found, err := loadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	return expandDeployments(objects), nil
}

func loadFile(file string) ([]client.Object, error) {
	in := os.Stdin
	if file != "-" {
		var err error
		if in, err = os.Open(file); err != nil {
			return nil, err
		}
		defer in.Close()
	}
	var objects []client.Object
	decoder := yaml.NewYAMLOrJSONDecoder(bufio.NewReaderSize(in, 1<<20), 1<<20)
	for {
		raw := json.RawMessage{}
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(raw, []byte("null")) {
			continue // an empty document, such as the one before a leading "---"
		}
		found, err := decode(raw)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
}

// decode returns the typed object of one document, or all objects of a List.
func decode(raw []byte) ([]client.Object, error) {
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		return nil, err
	}
	if items, ok := u.Object["items"].([]any); ok {
		return decodeAll(items)
	}
	if u.GetKind() == "KWOKNodeClass" { // no decision depends on its content
		return nil, nil
	}
	setAPIDefaults(u)
	typed, err := scheme.Scheme.New(u.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(lo.Must(json.Marshal(u.Object))))
	decoder.DisallowUnknownFields() // otherwise a misspelt field would go unnoticed and test nothing
	if err := decoder.Decode(typed); err != nil {
		return nil, fmt.Errorf("%s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return []client.Object{typed.(client.Object)}, nil
}

func decodeAll(items []any) ([]client.Object, error) {
	var objects []client.Object
	for _, item := range items {
		found, err := decode(lo.Must(json.Marshal(item)))
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// setAPIDefaults sets the two durations whose zero value means "Never" once typed, although the API
// server's default is another. All other defaults are set on typed objects, by withDefaults.
func setAPIDefaults(u *unstructured.Unstructured) {
	switch u.GetKind() {
	case "NodePool":
		setMissing(u, "0s", "spec", "disruption", "consolidateAfter")
		setMissing(u, "720h", "spec", "template", "spec", "expireAfter")
	case "NodeClaim":
		setMissing(u, "720h", "spec", "expireAfter")
	}
}

func setMissing(u *unstructured.Unstructured, value string, path ...string) {
	if _, found, _ := unstructured.NestedFieldNoCopy(u.Object, path...); !found {
		lo.Must0(unstructured.SetNestedField(u.Object, value, path...))
	}
}

// expandDeployments turns each Deployment into its pods (NAME-0, NAME-1, …): pending ones, or running
// ones where the template names a node. A Deployment whose ReplicaSet is in the scenario is left alone.
func expandDeployments(objects []client.Object) []client.Object {
	hasReplicaSet := map[string]bool{}
	for _, o := range objects {
		if rs, ok := o.(*appsv1.ReplicaSet); ok {
			if owner := metav1.GetControllerOf(rs); owner != nil {
				hasReplicaSet[rs.Namespace+"/"+owner.Name] = true
			}
		}
	}
	return lo.FlatMap(objects, func(o client.Object, _ int) []client.Object {
		d, ok := o.(*appsv1.Deployment)
		if !ok || hasReplicaSet[d.Namespace+"/"+d.Name] {
			return []client.Object{o}
		}
		return lo.Times(int(lo.FromPtrOr(d.Spec.Replicas, 1)), func(i int) client.Object { return podOf(d, i) })
	})
}

// podOf returns a pod as the Deployment's ReplicaSet would create it.
func podOf(d *appsv1.Deployment, index int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: *d.Spec.Template.Spec.DeepCopy()}
	pod.Name, pod.Namespace = fmt.Sprintf("%s-%d", d.Name, index), d.Namespace
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: d.Name, UID: types.UID(d.Name), Controller: lo.ToPtr(true)}}
	return pod
}

// withKinds sets apiVersion and kind, which typed objects usually lack.
func withKinds(objects []client.Object) []client.Object {
	for _, o := range objects {
		o.GetObjectKind().SetGroupVersionKind(lo.Must(apiutil.GVKForObject(o, scheme.Scheme)))
	}
	return objects
}
