import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A controller with the client of fabric8, written badly and well, under a reply that is lost after the write. */
@ExtendWith(OrchFork.class)
class WeatherTest {
  interface Controller {
    void pass(KubernetesClient client);
  }

  static ConfigMap child(String name, String generateName) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withGenerateName(generateName).withNamespace("default")
        .withLabels(Map.of("of", "wanted")).endMetadata().build();
  }

  static void create(KubernetesClient client, ConfigMap child) {
    client.resource(child).create();
  }

  /** Repeats a create that has failed under another generated name. */
  static void creatingBadly(KubernetesClient client) {
    try {
      create(client, child(null, "child-"));
    } catch (KubernetesClientException lost) {
      create(client, child(null, "child-"));
    }
  }

  /** Decides the name once: a taken name is success. */
  static void creatingWell(KubernetesClient client) {
    try {
      create(client, child("child-0", null));
    } catch (KubernetesClientException lost) {
      try {
        create(client, child("child-0", null));
      } catch (KubernetesClientException taken) {
        if (taken.getCode() != 409) throw taken;
      }
    }
  }

  /** A client that sends each request once. */
  static KubernetesClient clientOf(String kubeconfig) {
    var config = new ConfigBuilder(Config.fromKubeconfig(kubeconfig)).withRequestRetryBackoffLimit(0).build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  static int childrenLeftBy(OrchControl fork, Controller controller) throws Exception {
    var lost = fork.addFault(
        "{\"on\":{\"user\":\"operator\",\"verb\":\"create\"},\"times\":1,\"effect\":{\"loseReply\":{}}}");
    try (var client = clientOf(fork.user("operator"))) {
      controller.pass(client);
      assertEquals(1, fork.hits(lost));
      return client.configMaps().inNamespace("default").withLabel("of", "wanted").list().getItems().size();
    }
  }

  @Test
  void aLostReplyMakesASecondChildOfAControllerThatIsWrittenBadly(OrchControl fork) throws Exception {
    assertEquals(2, childrenLeftBy(fork, WeatherTest::creatingBadly));
  }

  @Test
  void aLostReplyMakesNoSecondChildOfOneThatIsWrittenWell(OrchControl fork) throws Exception {
    assertEquals(1, childrenLeftBy(fork, WeatherTest::creatingWell));
  }

  @Test
  void aRestoredForkHasTheObjectsOfItsSnapshot(OrchControl fork) throws Exception {
    try (var client = clientOf(fork.kubeconfig)) {
      fork.snapshot("one");
      create(client, child("more", null));
      fork.restore("one");
      fork.settled();
      assertNull(client.configMaps().inNamespace("default").withName("more").get());
      assertEquals(0, fork.count("user=operator"));
    }
  }
}
