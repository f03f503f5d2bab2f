package main

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// Hash is what decides whether a NodeClaim has drifted from its NodePool.
type Hash struct {
	NodePool string `json:"nodePool"`
	Hash     string `json:"hash"`
	Version  string `json:"version"`
}

func hashes(objects []client.Object) []Hash {
	found := []Hash{}
	for _, o := range objects {
		if pool, ok := o.(*v1.NodePool); ok {
			found = append(found, Hash{NodePool: pool.Name, Hash: pool.Hash(), Version: v1.NodePoolHashVersion})
		}
	}
	return found
}
