// An operator with webhooks in envtest: typed objects with today's fields, a watch that goes on, apply, a definition with its
// reconciler, and leader election. KUBEBUILDER_ASSETS names the control plane, CLIENTS_LEVEL its minor version.
package clients

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const namespace = "default"

var widgetKind = schema.GroupVersionKind{Group: "clients.example.com", Version: "v1", Kind: "Widget"}

func aWidget(name string, size int64) *unstructured.Unstructured {
	widget := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": size}}}
	widget.SetGroupVersionKind(widgetKind)
	widget.SetNamespace(namespace)
	widget.SetName(name)
	return widget
}

func widgetDefinition() *apiextensionsv1.CustomResourceDefinition {
	integer := apiextensionsv1.JSONSchemaProps{Type: "integer"}
	object := func(members map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: members}
	}
	root := object(map[string]apiextensionsv1.JSONSchemaProps{
		"spec":   object(map[string]apiextensionsv1.JSONSchemaProps{"size": integer, "color": {Type: "string"}}),
		"status": object(map[string]apiextensionsv1.JSONSchemaProps{"size": integer}),
	})
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.clients.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: widgetKind.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

func webhooks() envtest.WebhookInstallOptions {
	path := func(text string) *string { return &text }
	none := admissionv1.SideEffectClassNone
	rules := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule:       admissionv1.Rule{APIGroups: []string{widgetKind.Group}, APIVersions: []string{"v1"}, Resources: []string{"widgets"}},
	}}
	at := func(where string) admissionv1.WebhookClientConfig {
		service := admissionv1.ServiceReference{Name: "webhooks", Namespace: namespace, Path: path(where)}
		return admissionv1.WebhookClientConfig{Service: &service}
	}
	return envtest.WebhookInstallOptions{
		MutatingWebhooks: []*admissionv1.MutatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "widgets"},
			Webhooks: []admissionv1.MutatingWebhook{{
				Name: "color.clients.example.com", ClientConfig: at("/color"), Rules: rules, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		}},
		ValidatingWebhooks: []*admissionv1.ValidatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "widgets"},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name: "size.clients.example.com", ClientConfig: at("/size"), Rules: rules, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		}},
	}
}

// The whole course over one control plane.
func TestOperator(t *testing.T) {
	level, err := strconv.Atoi(os.Getenv("CLIENTS_LEVEL"))
	need(t, err)
	environment := &envtest.Environment{
		CRDs:                  []*apiextensionsv1.CustomResourceDefinition{widgetDefinition()},
		WebhookInstallOptions: webhooks(),
	}
	config, err := environment.Start()
	need(t, err)
	t.Cleanup(func() { need(t, environment.Stop()) })
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	clients, err := kubernetes.NewForConfig(config)
	need(t, err)
	version, err := clients.Discovery().ServerVersion()
	need(t, err)
	if version.Minor != strconv.Itoa(level) {
		t.Fatalf("the minor version is %s instead of %d", version.Minor, level)
	}
	t.Run("Typed", func(t *testing.T) { typed(ctx, t, clients, level) })
	t.Run("Watch", func(t *testing.T) { watchOn(ctx, t, clients) })
	t.Run("Apply", func(t *testing.T) { apply(ctx, t, clients) })
	t.Run("Operator", func(t *testing.T) { operate(ctx, t, config, environment.WebhookInstallOptions) })
}

// Fields since 1.29, 1.30 and 1.35. A server of an earlier level does not keep the last one.
func typed(ctx context.Context, t *testing.T, clients kubernetes.Interface, level int) {
	always := corev1.ContainerRestartPolicyAlways
	hostname := "web.example.com"
	near := corev1.ServiceTrafficDistributionPreferClose
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "today"}, Spec: corev1.PodSpec{
		HostnameOverride: &hostname,
		InitContainers:   []corev1.Container{{Name: "sidecar", Image: "sidecar:1", RestartPolicy: &always}},
		Containers: []corev1.Container{{
			Name: "main", Image: "main:1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}},
		}},
	}}
	made, err := clients.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	need(t, err)
	if policy := made.Spec.InitContainers[0].RestartPolicy; policy == nil || *policy != always {
		t.Fatalf("the sidecar has the policy %v", policy)
	}
	if kept := made.Spec.HostnameOverride; (kept != nil) != (level >= 35) {
		t.Fatalf("at 1.%d the name of the host is %v", level, kept)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "today"}, Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Port: 80}}, TrafficDistribution: &near,
	}}
	kept, err := clients.CoreV1().Services(namespace).Create(ctx, service, metav1.CreateOptions{})
	need(t, err)
	if distribution := kept.Spec.TrafficDistribution; distribution == nil || *distribution != near {
		t.Fatalf("the Service has the distribution %v", distribution)
	}
	made.Labels = map[string]string{"changed": "yes"}
	changed, err := clients.CoreV1().Pods(namespace).Update(ctx, made.DeepCopy(), metav1.UpdateOptions{})
	need(t, err)
	if _, err := clients.CoreV1().Pods(namespace).Update(ctx, made, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Fatalf("an update of the state before gets %v", err)
	}
	zero := int64(0)
	uid := changed.UID
	need(t, clients.CoreV1().Pods(namespace).Delete(ctx, "today", metav1.DeleteOptions{GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &uid}}))
	if _, err := clients.CoreV1().Pods(namespace).Get(ctx, "today", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("the Pod is still there: %v", err)
	}
}

// A watch whose requests end every second loses no change.
func watchOn(ctx context.Context, t *testing.T, clients kubernetes.Interface) {
	maps := clients.CoreV1().ConfigMaps(namespace)
	listed, err := maps.List(ctx, metav1.ListOptions{})
	need(t, err)
	second := int64(1)
	source := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		options.TimeoutSeconds = &second
		return maps.Watch(ctx, options)
	}}
	retrying, err := watchtools.NewRetryWatcherWithContext(ctx, listed.ResourceVersion, source)
	need(t, err)
	defer retrying.Stop()
	const count = 6
	go func() {
		for i := range count {
			one := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "watched-" + strconv.Itoa(i)}}
			_, _ = maps.Create(ctx, one, metav1.CreateOptions{})
			time.Sleep(400 * time.Millisecond)
		}
	}()
	for seen := 0; seen < count; {
		event, isOpen := <-retrying.ResultChan()
		if !isOpen || event.Type == watch.Error {
			t.Fatalf("the watch has ended: %v", event)
		}
		if name := event.Object.(*corev1.ConfigMap).Name; strings.HasPrefix(name, "watched-") {
			if want := "watched-" + strconv.Itoa(seen); name != want {
				t.Fatalf("%s came instead of %s", name, want)
			}
			seen++
		}
	}
}

func apply(ctx context.Context, t *testing.T, clients kubernetes.Interface) {
	maps := clients.CoreV1().ConfigMaps(namespace)
	one := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"a": "1"})
	_, err := maps.Apply(ctx, one, metav1.ApplyOptions{FieldManager: "first"})
	need(t, err)
	other := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"a": "2"})
	if _, err := maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "second"}); !apierrors.IsConflict(err) {
		t.Fatalf("the second manager gets %v", err)
	}
	forced, err := maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "second", Force: true})
	need(t, err)
	extracted, err := corev1apply.ExtractConfigMap(forced, "second")
	need(t, err)
	if extracted.Data["a"] != "2" {
		t.Fatalf("the second manager owns %v", extracted.Data)
	}
}

type reconciler struct{ client.Client }

// The status tells the size.
func (r reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := aWidget("", 0)
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	size, _, _ := unstructured.NestedInt64(widget.Object, "spec", "size")
	shown, isShown, _ := unstructured.NestedInt64(widget.Object, "status", "size")
	if isShown && size == shown {
		return ctrl.Result{}, nil
	}
	if err := unstructured.SetNestedField(widget.Object, size, "status", "size"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Update(ctx, widget)
}

func color(_ context.Context, request admission.Request) admission.Response {
	widget := &unstructured.Unstructured{}
	if err := widget.UnmarshalJSON(request.Object.Raw); err != nil {
		return admission.Errored(400, err)
	}
	if err := unstructured.SetNestedField(widget.Object, "blue", "spec", "color"); err != nil {
		return admission.Errored(500, err)
	}
	changed, err := widget.MarshalJSON()
	if err != nil {
		return admission.Errored(500, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, changed)
}

func size(_ context.Context, request admission.Request) admission.Response {
	widget := &unstructured.Unstructured{}
	if err := widget.UnmarshalJSON(request.Object.Raw); err != nil {
		return admission.Errored(400, err)
	}
	if size, _, _ := unstructured.NestedInt64(widget.Object, "spec", "size"); size > 10 {
		return admission.Denied("a Widget is at most 10 large")
	}
	return admission.Allowed("")
}

func operate(ctx context.Context, t *testing.T, config *rest.Config, served envtest.WebhookInstallOptions) {
	skip := true
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  runtime.NewScheme(),
		Metrics:                 server.Options{BindAddress: "0"},
		Controller:              ctrlconfig.Controller{SkipNameValidation: &skip},
		LeaderElection:          true,
		LeaderElectionID:        "widgets.clients.example.com",
		LeaderElectionNamespace: namespace,
		WebhookServer:           webhook.NewServer(webhook.Options{Host: served.LocalServingHost, Port: served.LocalServingPort, CertDir: served.LocalServingCertDir}),
	})
	need(t, err)
	manager.GetWebhookServer().Register("/color", &webhook.Admission{Handler: admission.HandlerFunc(color)})
	manager.GetWebhookServer().Register("/size", &webhook.Admission{Handler: admission.HandlerFunc(size)})
	need(t, ctrl.NewControllerManagedBy(manager).For(aWidget("", 0)).Complete(reconciler{manager.GetClient()}))
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(running) }()
	defer func() { stop(); need(t, <-ended) }()
	<-manager.Elected()
	need(t, wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return manager.GetWebhookServer().StartedChecker()(nil) == nil, nil
	}))
	direct, err := client.New(config, client.Options{Scheme: runtime.NewScheme()})
	need(t, err)
	need(t, direct.Create(ctx, aWidget("one", 3)))
	if err := direct.Create(ctx, aWidget("large", 11)); err == nil || !strings.Contains(err.Error(), "at most 10") {
		t.Fatalf("a large Widget gets %v", err)
	}
	expectSize(ctx, t, direct, 3)
	changed := aWidget("one", 5)
	need(t, direct.Apply(ctx, client.ApplyConfigurationFromUnstructured(changed), client.FieldOwner("me"), client.ForceOwnership))
	expectSize(ctx, t, direct, 5)
}

func expectSize(ctx context.Context, t *testing.T, reader client.Reader, wanted int64) {
	t.Helper()
	widget := aWidget("one", 0)
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		if err := reader.Get(ctx, client.ObjectKeyFromObject(widget), widget); err != nil {
			return false, err
		}
		shown, _, _ := unstructured.NestedInt64(widget.Object, "status", "size")
		return shown == wanted, nil
	})
	if err != nil {
		t.Fatalf("the status is %v: %v", widget.Object["status"], err)
	}
	if color, _, _ := unstructured.NestedString(widget.Object, "spec", "color"); color != "blue" {
		t.Fatalf("the color is %q", color)
	}
}

func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
