package orchtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
)

const namespace = "default"

// A controller is asked to make the state right, and again when it returns an error.
type controller func(ctx context.Context, client kubernetes.Interface) error

func child(name, generateName string) *corev1.ConfigMap {
	labels := map[string]string{"app": "web"}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, GenerateName: generateName, Labels: labels}}
}

func children(ctx context.Context, client kubernetes.Interface) ([]corev1.ConfigMap, error) {
	list, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func create(ctx context.Context, client kubernetes.Interface, object *corev1.ConfigMap) error {
	_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{})
	return err
}

func always(error) bool { return true }

// Creates again after an error, under another name that the server draws: after a lost reply there are two children.
func badCreate(ctx context.Context, client kubernetes.Interface) error {
	if found, err := children(ctx, client); err != nil || len(found) > 0 {
		return err
	}
	return retry.OnError(retry.DefaultRetry, always, func() error { return create(ctx, client, child("", "web-")) })
}

// The name is decided once: that the child exists is success.
func goodCreate(ctx context.Context, client kubernetes.Interface) error {
	if found, err := children(ctx, client); err != nil || len(found) > 0 {
		return err
	}
	return retry.OnError(retry.DefaultRetry, always, func() error {
		if err := create(ctx, client, child("web-0", "")); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	})
}

// Takes a conflict for the work of another who has done the same.
func badUpdate(ctx context.Context, client kubernetes.Interface) error {
	object, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, "goal", metav1.GetOptions{})
	if err != nil {
		return err
	}
	object.Data = map[string]string{"done": "true"}
	_, err = client.CoreV1().ConfigMaps(namespace).Update(ctx, object, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// Reads again, then writes.
func goodUpdate(ctx context.Context, client kubernetes.Interface) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, "goal", metav1.GetOptions{})
		if err != nil {
			return err
		}
		object.Data = map[string]string{"done": "true"}
		_, err = client.CoreV1().ConfigMaps(namespace).Update(ctx, object, metav1.UpdateOptions{})
		return err
	})
}

// Takes a list that failed for an empty one, and makes what it has already.
func badList(ctx context.Context, client kubernetes.Interface) error {
	found, _ := children(ctx, client)
	for count := len(found); count < 2; count++ {
		if err := create(ctx, client, child("", "web-")); err != nil {
			return err
		}
	}
	return nil
}

// Does nothing without an answer.
func goodList(ctx context.Context, client kubernetes.Interface) error {
	found, err := children(ctx, client)
	if err != nil {
		return err
	}
	for count := len(found); count < 2; count++ {
		if err := create(ctx, client, child("", "web-")); err != nil {
			return err
		}
	}
	return nil
}

// Counts in a cache that may be old.
func badScale(ctx context.Context, client kubernetes.Interface) error {
	return goodList(ctx, client)
}

// Each child has a number, so that an old cache makes none twice.
func goodScale(ctx context.Context, client kubernetes.Interface) error {
	for number := range 2 {
		name := fmt.Sprintf("web-%d", number)
		if err := create(ctx, client, child(name, "")); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// Each weather with a controller that it finds, and one that it does not.
var cases = []struct {
	name      string
	bad, good controller
	weather   func(t *testing.T, control *Control)
	want      int
}{
	{"LostReply", badCreate, goodCreate, func(t *testing.T, control *Control) {
		control.AddFault(t, M{"on": M{"user": "operator", "verb": "create"}, "times": 1, "effect": M{"loseReply": M{}}})
	}, 1},
	{"Conflicts", badUpdate, goodUpdate, func(t *testing.T, control *Control) {
		control.AddFault(t, M{"on": M{"user": "operator", "verb": "update"}, "times": 3, "effect": M{"refuse": M{"code": 409}}})
	}, 0},
	{"FailedList", badList, goodList, func(t *testing.T, control *Control) {
		control.AddFault(t, M{"on": M{"user": "operator", "verb": "list"}, "after": 1, "times": 1, "effect": M{"refuse": M{"code": 500}}})
	}, 2},
	{"OldCache", badScale, goodScale, func(t *testing.T, control *Control) {
		control.Begin(t, "/reads/freeze", M{"user": "operator", "strength": "all", "on": M{"resource": "configmaps"}})
	}, 2},
}

func clientOf(t *testing.T, kubeconfig []byte) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return kubernetes.NewForConfigOrDie(config)
}

// run has the controller work three times under the weather, as events would, and tells what is wrong at the end.
func run(t *testing.T, base *Control, work controller, weather func(*testing.T, *Control), want int) string {
	t.Helper()
	ctx := context.Background()
	fork := base.Fork(t)
	admin := clientOf(t, []byte(fork.Kubeconfig))
	goal := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "goal"}}
	if _, err := admin.CoreV1().ConfigMaps(namespace).Create(ctx, goal, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	operator := clientOf(t, fork.Control.User(t, "operator"))
	weather(t, &fork.Control)
	for succeeded, tries := 0, 0; succeeded < 2 && tries < 6; tries++ {
		if work(ctx, operator) == nil {
			succeeded++
		}
	}
	found, err := children(ctx, admin)
	if err != nil {
		t.Fatal(err)
	}
	if want == 0 {
		object, err := admin.CoreV1().ConfigMaps(namespace).Get(ctx, "goal", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if object.Data["done"] != "true" {
			return "the goal is not done"
		}
		return ""
	}
	if len(found) != want {
		return fmt.Sprintf("%d children instead of %d", len(found), want)
	}
	return ""
}

func TestWeather(t *testing.T) {
	base := Open(t)
	for _, weather := range cases {
		t.Run(weather.name, func(t *testing.T) {
			fair := func(*testing.T, *Control) {}
			if found := run(t, base, weather.bad, fair, weather.want); found != "" {
				t.Errorf("in fair weather: %s", found)
			}
			began := time.Now()
			for range 2 {
				if found := run(t, base, weather.bad, weather.weather, weather.want); found == "" {
					t.Error("the controller that is written badly was not found")
				} else {
					t.Log(found)
				}
				if found := run(t, base, weather.good, weather.weather, weather.want); found != "" {
					t.Errorf("the controller that is written well: %s", found)
				}
			}
			t.Logf("%v for two rounds of both", time.Since(began).Round(time.Millisecond))
		})
	}
}
