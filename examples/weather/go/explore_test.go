package orchtest

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// cached lists the children, possibly from an old cache.
func cached(ctx context.Context, client kubernetes.Interface) ([]corev1.ConfigMap, error) {
	options := metav1.ListOptions{LabelSelector: "app=web", ResourceVersion: "0"}
	list, err := client.CoreV1().ConfigMaps(namespace).List(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func remove(ctx context.Context, client kubernetes.Interface, name string) error {
	return client.CoreV1().ConfigMaps(namespace).Delete(ctx, name, metav1.DeleteOptions{})
}

// Deletes one child if the cache has more than two, and another one at the next call if the cache does not show the deletion yet.
func badScaleDown(ctx context.Context, client kubernetes.Interface) error {
	found, err := cached(ctx, client)
	if err != nil || len(found) <= 2 {
		return err
	}
	for _, child := range found {
		if err := remove(ctx, client, child.Name); !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// Chooses by name, so that an old cache chooses the same child again.
func goodScaleDown(ctx context.Context, client kubernetes.Interface) error {
	found, err := cached(ctx, client)
	if err != nil || len(found) <= 2 {
		return err
	}
	for _, child := range found[2:] {
		if err := remove(ctx, client, child.Name); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// TestExplored sets no faults: `orch explore --seeds 1..50 -- go test -count=1 -run TestExplored/ScaleDown/bad .` finds the mistake.
func TestExplored(t *testing.T) {
	base := Open(t)
	for _, explored := range []struct {
		name      string
		bad, good controller
		begin     int
		want      int
	}{
		{"Create", badCreate, goodCreate, 0, 1},
		{"ScaleDown", badScaleDown, goodScaleDown, 3, 2},
	} {
		check := func(work controller) func(*testing.T) {
			return func(t *testing.T) {
				ctx := context.Background()
				fork := base.Fork(t)
				admin := clientOf(t, []byte(fork.Kubeconfig))
				for number := range explored.begin {
					if err := create(ctx, admin, child(fmt.Sprintf("web-%d", number), "")); err != nil {
						t.Fatal(err)
					}
				}
				operator := clientOf(t, fork.Control.User(t, "operator"))
				// A work queue calls again after an error, and after each event.
				for range 6 {
					_ = work(ctx, operator)
				}
				fork.Control.ClearFaults(t)
				_ = work(ctx, operator)
				found, err := children(ctx, admin)
				if err != nil || len(found) != explored.want {
					t.Errorf("%d children instead of %d: %v", len(found), explored.want, err)
				}
			}
		}
		t.Run(explored.name+"/bad", check(explored.bad))
		t.Run(explored.name+"/good", check(explored.good))
	}
}
