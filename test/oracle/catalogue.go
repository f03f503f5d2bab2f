package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/awslabs/operatorpkg/status"

	kwokv1alpha1 "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	testv1alpha1 "sigs.k8s.io/karpenter/pkg/test/v1alpha1"
)

// reservationID is the label that names the reservation in a reserved offering of a catalogue file.
const reservationID = "karpenter.kwok.sh/reservation-id"

// provider serves one fixed catalogue to every NodePool. The embedded interface is nil: any other call to
// a cloud would panic, so an answer cannot depend on one.
type provider struct {
	cloudprovider.CloudProvider
	types []*cloudprovider.InstanceType
}

func (p *provider) GetInstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return p.types, nil
}

func (p *provider) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}

func (p *provider) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&kwokv1alpha1.KWOKNodeClass{}}
}

// loadCatalogue returns the instance types that -instance-types names.
func loadCatalogue(ctx context.Context, name string) ([]*cloudprovider.InstanceType, error) {
	if count, ok := strings.CutPrefix(name, "fake:"); ok {
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, fmt.Errorf("-instance-types %s: %w", name, err)
		}
		return fake.InstanceTypes(n), nil
	}
	useKwokLabels()
	file := name
	if name == "kwok" {
		file = "" // the catalogue that is built in
	}
	return kwok.ConstructInstanceTypes((&kwokoptions.Options{InstanceTypesFilePath: file}).ToContext(ctx))
}

// useKwokLabels undoes what linking the fake provider has done: it makes that provider's labels well-known,
// and they are not when Karpenter runs with the KWOK provider.
func useKwokLabels() {
	v1.WellKnownLabels = v1.WellKnownLabels.Delete(fake.LabelInstanceSize, fake.ExoticInstanceLabelKey, fake.IntegerInstanceLabelKey, testv1alpha1.LabelReservationID)
	v1.WellKnownLabels = v1.WellKnownLabels.Insert(reservationID)
	cloudprovider.ReservationIDLabel = reservationID
	cloudprovider.ReservedCapacityLabels.Delete(testv1alpha1.LabelReservationID).Insert(reservationID)
}
