import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/** The fabric8 client against the server of KUBECONFIG: prints a line for each step that went well. LEVEL is its minor version. */
public class Course {
  static final String namespace = "default";
  static final int level = Integer.parseInt(System.getenv("LEVEL"));

  public static class Size {
    public int size;

    public Size() {}

    Size(int size) {
      this.size = size;
    }
  }

  @Group("clients.example.com")
  @Version("v1")
  public static class Widget extends CustomResource<Size, Size> implements Namespaced {}

  public static void main(String[] arguments) throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      typed(client);
      System.out.println("ok typed");
      watched(client);
      System.out.println("ok watch");
      applied(client);
      System.out.println("ok apply");
      elected(client);
      System.out.println("ok leader");
      operated(client);
      System.out.println("ok operator");
    }
    System.exit(0);
  }

  static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  static int refusal(Runnable request) {
    try {
      request.run();
      return 200;
    } catch (KubernetesClientException refused) {
      return refused.getCode();
    }
  }

  static void typed(KubernetesClient client) {
    var pods = client.pods().inNamespace(namespace);
    Pod pod = new PodBuilder().withNewMetadata().withName("today").endMetadata()
        .withNewSpec().withHostnameOverride("web.example.com")
        .addNewInitContainer().withName("sidecar").withImage("sidecar:1").withRestartPolicy("Always").endInitContainer()
        .addNewContainer().withName("main").withImage("main:1").endContainer()
        .endSpec().build();
    Pod made = pods.resource(pod).create();
    check("Always".equals(made.getSpec().getInitContainers().get(0).getRestartPolicy()), "the sidecar has no policy");
    check((made.getSpec().getHostnameOverride() != null) == (level >= 35), "the name of the host is kept");
    Service service = new ServiceBuilder().withNewMetadata().withName("today").endMetadata()
        .withNewSpec().addNewPort().withPort(80).endPort().withTrafficDistribution("PreferClose").endSpec().build();
    Service kept = client.services().inNamespace(namespace).resource(service).create();
    check("PreferClose".equals(kept.getSpec().getTrafficDistribution()), "the Service has no distribution");
    Pod labelled = new PodBuilder(made).editMetadata().addToLabels("changed", "yes").endMetadata().build();
    check("yes".equals(pods.resource(labelled).update().getMetadata().getLabels().get("changed")), "no label");
    check(refusal(() -> pods.resource(labelled).update()) == 409, "an update of the state before has no conflict");
    pods.withName("today").withGracePeriod(0).delete();
    check(pods.withName("today").get() == null, "the Pod is still there");
    check(pods.list().getItems().isEmpty(), "the list has the Pod");
  }

  /** A watch whose requests end every second loses no change. */
  static void watched(KubernetesClient client) throws Exception {
    var maps = client.configMaps().inNamespace(namespace);
    AtomicReference<String> version = new AtomicReference<>(maps.list().getMetadata().getResourceVersion());
    List<String> wanted = IntStream.range(0, 6).mapToObj(index -> "watched-" + index).toList();
    Thread creator = new Thread(() -> {
      for (String name : wanted) {
        maps.resource(new ConfigMapBuilder().withNewMetadata().withName(name).endMetadata().build()).create();
        sleep(400);
      }
    });
    creator.start();
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    while (seen.size() < wanted.size()) {
      CountDownLatch over = new CountDownLatch(1);
      var options = new ListOptionsBuilder().withResourceVersion(version.get()).withTimeoutSeconds(1L).build();
      try (var watch = maps.watch(options, new Watcher<ConfigMap>() {
        @Override
        public void eventReceived(Action action, ConfigMap map) {
          version.set(map.getMetadata().getResourceVersion());
          if (action == Action.ADDED && map.getMetadata().getName().startsWith("watched-")) seen.add(map.getMetadata().getName());
        }

        @Override
        public boolean reconnecting() {
          return true;
        }

        @Override
        public void onClose(WatcherException cause) {
          over.countDown();
        }
      })) {
        over.await(1500, TimeUnit.MILLISECONDS);
      }
    }
    creator.join();
    check(List.copyOf(seen).equals(wanted), "seen " + seen);
  }

  static void applied(KubernetesClient client) {
    var maps = client.configMaps().inNamespace(namespace);
    ConfigMap one = new ConfigMapBuilder().withNewMetadata().withName("applied").endMetadata().addToData("a", "1").build();
    ConfigMap two = new ConfigMapBuilder(one).addToData("a", "2").build();
    PatchContext second = PatchContext.of(PatchType.SERVER_SIDE_APPLY);
    second.setFieldManager("second");
    maps.resource(one).fieldManager("first").serverSideApply();
    check(refusal(() -> maps.resource(two).patch(second)) == 409, "the second manager has no conflict");
    second.setForce(true);
    check("2".equals(maps.resource(two).patch(second).getData().get("a")), "the forced value is absent");
  }

  static void elected(KubernetesClient client) throws Exception {
    CountDownLatch mine = new CountDownLatch(1);
    CountDownLatch others = new CountDownLatch(1);
    var me = candidate(client, "me", mine);
    check(mine.await(60, TimeUnit.SECONDS), "nobody leads");
    var other = candidate(client, "other", others);
    check(!others.await(3, TimeUnit.SECONDS), "two lead");
    me.cancel(true);
    check(others.await(60, TimeUnit.SECONDS), "nobody follows");
    other.cancel(true);
  }

  static CompletableFuture<?> candidate(KubernetesClient client, String name, CountDownLatch leads) {
    var callbacks = new LeaderCallbacks(leads::countDown, () -> {}, holder -> {});
    var config = new LeaderElectionConfigBuilder().withName(name).withLock(new LeaseLock(namespace, "elected", name))
        .withLeaseDuration(Duration.ofSeconds(15)).withRenewDeadline(Duration.ofSeconds(10)).withRetryPeriod(Duration.ofSeconds(1))
        .withReleaseOnCancel(true).withLeaderCallbacks(callbacks).build();
    return client.leaderElector().withConfig(config).build().start();
  }

  static CustomResourceDefinition definition() {
    return new CustomResourceDefinitionBuilder().withNewMetadata().withName("widgets.clients.example.com").endMetadata()
        .withNewSpec().withGroup("clients.example.com").withScope("Namespaced")
        .withNewNames().withPlural("widgets").withSingular("widget").withKind("Widget").endNames()
        .addNewVersion().withName("v1").withServed(true).withStorage(true)
        .withNewSubresources().withNewStatus().endStatus().endSubresources()
        .withNewSchema().withNewOpenAPIV3Schema().withType("object").withXKubernetesPreserveUnknownFields(true)
        .endOpenAPIV3Schema().endSchema().endVersion().endSpec().build();
  }

  static void operated(KubernetesClient client) {
    client.apiextensions().v1().customResourceDefinitions().resource(definition()).create();
    client.apiextensions().v1().customResourceDefinitions().withName("widgets.clients.example.com").waitUntilCondition(
        one -> one != null && one.getStatus() != null && one.getStatus().getConditions().stream()
            .anyMatch(condition -> "Established".equals(condition.getType()) && "True".equals(condition.getStatus())), 60, TimeUnit.SECONDS);
    var widgets = client.resources(Widget.class).inNamespace(namespace);
    try (var informer = widgets.inform(new ResourceEventHandler<Widget>() {
      @Override
      public void onAdd(Widget widget) {
        reconcile(widget);
      }

      @Override
      public void onUpdate(Widget before, Widget widget) {
        reconcile(widget);
      }

      @Override
      public void onDelete(Widget widget, boolean isUnknown) {}

      void reconcile(Widget widget) {
        if (widget.getStatus() != null && widget.getStatus().size == widget.getSpec().size) return;
        widgets.resource(widget).editStatus(one -> {
          one.setStatus(new Size(widget.getSpec().size));
          return one;
        });
      }
    })) {
      Widget widget = new Widget();
      widget.getMetadata().setName("one");
      widget.setSpec(new Size(3));
      widgets.resource(widget).create();
      waitForSize(widgets.withName("one"), 3);
      widgets.withName("one").edit(one -> {
        one.setSpec(new Size(5));
        return one;
      });
      waitForSize(widgets.withName("one"), 5);
      widgets.withName("one").delete();
      check(widgets.list().getItems().isEmpty(), "the Widget is still there");
    }
  }

  static void waitForSize(Resource<Widget> widget, int size) {
    widget.waitUntilCondition(one -> one != null && one.getStatus() != null && one.getStatus().size == size, 60, TimeUnit.SECONDS);
  }

  static void sleep(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
