// Package clientgo uses client-go with the control plane that the environment names. It is compiled within a source tree of Kubernetes
// 1.20, which has client-go and what it needs.
package clientgo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
)

const patience = 30 * time.Second

// configured gives the configuration of an administrator, for objects in the given format.
func configured(contentType string) *rest.Config {
	folder := os.Getenv("CONTROL_PLANE_FOLDER")
	return &rest.Config{
		Host: os.Getenv("CONTROL_PLANE_URL"), QPS: 1000, Burst: 2000,
		ContentConfig: rest.ContentConfig{ContentType: contentType},
		TLSClientConfig: rest.TLSClientConfig{
			CAFile:   filepath.Join(folder, "serving-ca.crt"),
			CertFile: filepath.Join(folder, "admin.crt"),
			KeyFile:  filepath.Join(folder, "admin.key"),
		},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if wait.PollImmediate(5*time.Millisecond, patience, func() (bool, error) { return holds(), nil }) != nil {
		t.Fatalf("%s: not within %v", what, patience)
	}
}

func clientset(t *testing.T, contentType string) *kubernetes.Clientset {
	set, err := kubernetes.NewForConfig(configured(contentType))
	must(t, err)
	return set
}

var formats = map[string]string{"json": "application/json", "protobuf": "application/vnd.kubernetes.protobuf"}

func TestDiscovery(t *testing.T) {
	set := clientset(t, formats["json"])
	version, err := set.Discovery().ServerVersion()
	must(t, err)
	if version.Major != "1" || version.Minor != "25" {
		t.Errorf("version %s.%s", version.Major, version.Minor)
	}
	groups, lists, err := discovery.ServerGroupsAndResources(set.Discovery())
	must(t, err)
	if len(groups) < 20 || len(lists) < len(groups) {
		t.Errorf("%d groups, %d lists of resources", len(groups), len(lists))
	}
}

func TestInformers(t *testing.T) {
	for name, contentType := range formats {
		contentType := contentType
		t.Run(name, func(t *testing.T) { informersSeeEachChangeOnce(t, clientset(t, contentType), "informers-"+name) })
	}
}

func informersSeeEachChangeOnce(t *testing.T, set *kubernetes.Clientset, namespace string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := set.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	must(t, err)
	factory := informers.NewSharedInformerFactoryWithOptions(set, 0, informers.WithNamespace(namespace))
	var added, updated, deleted int64
	factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(interface{}) { atomic.AddInt64(&added, 1) },
		UpdateFunc: func(interface{}, interface{}) { atomic.AddInt64(&updated, 1) },
		DeleteFunc: func(interface{}) { atomic.AddInt64(&deleted, 1) },
	})
	factory.Core().V1().Pods().Informer()
	factory.Apps().V1().Deployments().Informer()
	factory.Rbac().V1().ClusterRoles().Informer()
	factory.Start(ctx.Done())
	inTime, done := context.WithTimeout(ctx, patience)
	defer done()
	for kind, isSynced := range factory.WaitForCacheSync(inTime.Done()) {
		if !isSynced {
			t.Fatalf("the informer of %v has no list", kind)
		}
	}
	roles, err := factory.Rbac().V1().ClusterRoles().Lister().List(labels.Everything())
	must(t, err)
	if len(roles) == 0 {
		t.Error("the informer of cluster roles is empty")
	}
	const count, changes = 500, 100
	maps := set.CoreV1().ConfigMaps(namespace)
	for i := 0; i < count; i++ {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c-%d", i)}, Data: map[string]string{"key": "before"}}
		_, err := maps.Create(ctx, object, metav1.CreateOptions{})
		must(t, err)
	}
	for i := 0; i < changes; i++ {
		must(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
			object, err := maps.Get(ctx, fmt.Sprintf("c-%d", i), metav1.GetOptions{})
			if err != nil {
				return err
			}
			object.Data["key"] = "after"
			_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
			return err
		}))
	}
	eventually(t, "the last update", func() bool { return atomic.LoadInt64(&updated) == changes })
	must(t, maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	eventually(t, "the last deletion", func() bool { return atomic.LoadInt64(&deleted) == count })
	if added != count || updated != changes {
		t.Errorf("seen: added %d, updated %d, deleted %d", added, updated, deleted)
	}
}

func aDefinition() *unstructured.Unstructured {
	specification := map[string]interface{}{"type": "object", "properties": map[string]interface{}{"size": map[string]interface{}{"type": "integer"}}}
	status := map[string]interface{}{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	version := map[string]interface{}{
		"name": "v1", "served": true, "storage": true, "subresources": map[string]interface{}{"status": map[string]interface{}{}},
		"schema": map[string]interface{}{"openAPIV3Schema": map[string]interface{}{
			"type": "object", "properties": map[string]interface{}{"spec": specification, "status": status},
		}},
	}
	return &unstructured.Unstructured{Object: map[string]interface{}{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]interface{}{"name": "widgets.example.dev"},
		"spec": map[string]interface{}{
			"group": "example.dev", "scope": "Namespaced", "versions": []interface{}{version},
			"names": map[string]interface{}{"kind": "Widget", "plural": "widgets"},
		},
	}}
}

func TestDynamicClient(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client, err := dynamic.NewForConfig(configured(formats["json"]))
	must(t, err)
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	_, err = client.Resource(definitions).Create(ctx, aDefinition(), metav1.CreateOptions{})
	must(t, err)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(clientset(t, formats["json"]).Discovery()))
	var widgets schema.GroupVersionResource
	eventually(t, "the RESTMapper finds the new kind", func() bool {
		mapper.Reset()
		mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "example.dev", Kind: "Widget"})
		if err == nil {
			widgets = mapping.Resource
		}
		return err == nil
	})
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := factory.ForResource(widgets)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	widget := &unstructured.Unstructured{Object: map[string]interface{}{
		"apiVersion": "example.dev/v1", "kind": "Widget",
		"metadata": map[string]interface{}{"name": "one"}, "spec": map[string]interface{}{"size": int64(3)},
	}}
	widget, err = client.Resource(widgets).Namespace("default").Create(ctx, widget, metav1.CreateOptions{})
	must(t, err)
	must(t, unstructured.SetNestedField(widget.Object, "ready", "status", "phase"))
	_, err = client.Resource(widgets).Namespace("default").UpdateStatus(ctx, widget, metav1.UpdateOptions{})
	must(t, err)
	eventually(t, "the informer sees the status", func() bool { return phaseOf(informer.Lister().ByNamespace("default").Get("one")) == "ready" })
}

func phaseOf(object runtime.Object, err error) string {
	if err != nil {
		return ""
	}
	phase, _, _ := unstructured.NestedString(object.(*unstructured.Unstructured).Object, "status", "phase")
	return phase
}

func TestLeaderElection(t *testing.T) {
	for _, kind := range []string{resourcelock.LeasesResourceLock, resourcelock.ConfigMapsResourceLock, resourcelock.EndpointsResourceLock} {
		for name, contentType := range formats {
			kind, contentType := kind, contentType
			lock := "leader-" + kind + "-" + name
			t.Run(kind+"-"+name, func(t *testing.T) { oneLeadsAfterTheOther(t, clientset(t, contentType), kind, lock) })
		}
	}
}

type candidate struct {
	end  context.CancelFunc
	done chan struct{}
}

func oneLeadsAfterTheOther(t *testing.T, set *kubernetes.Clientset, kind, name string) {
	leading := make(chan string, 4)
	var leaders int64
	candidates := map[string]candidate{}
	for _, identity := range []string{"a", "b"} {
		identity := identity
		lock, err := resourcelock.New(kind, "default", name, set.CoreV1(), set.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: identity})
		must(t, err)
		ctx, end := context.WithCancel(context.Background())
		done := make(chan struct{})
		candidates[identity] = candidate{end, done}
		go func() {
			defer close(done)
			leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
				Lock: lock, ReleaseOnCancel: true, LeaseDuration: 30 * time.Second, RenewDeadline: 20 * time.Second, RetryPeriod: 50 * time.Millisecond,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) { atomic.AddInt64(&leaders, 1); leading <- identity },
					OnStoppedLeading: func() {},
				},
			})
		}()
	}
	first := <-leading
	// The other one asks twenty times meanwhile.
	time.Sleep(time.Second)
	if count := atomic.LoadInt64(&leaders); count != 1 {
		t.Fatalf("%d lead at a time", count)
	}
	candidates[first].end()
	<-candidates[first].done
	select {
	case second := <-leading:
		if second == first {
			t.Errorf("%s leads again after it has ended", first)
		}
	case <-time.After(patience):
		t.Error("there is no other leader")
	}
	for _, one := range candidates {
		one.end()
		<-one.done
	}
}
