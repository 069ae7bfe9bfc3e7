import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Controls a server that `orch up --control` has started. It needs Java 17 alone; a project with a library for JSON reads the answers of
 * call() with it. OrchFork is the extension for JUnit around it.
 */
public final class OrchControl implements AutoCloseable {
  private final String url;
  private final String token;
  private final HttpClient client;
  private final Runnable onClose;
  /** The administrator's client configuration; null for the control of a file. */
  public final String kubeconfig;

  private OrchControl(String access, String kubeconfig, Runnable onClose) throws Exception {
    this.url = textIn(access, "url");
    this.token = textIn(access, "token");
    this.kubeconfig = kubeconfig;
    this.onClose = onClose;
    var authority = textIn(access, "certificateAuthority").getBytes(StandardCharsets.UTF_8);
    var store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setCertificateEntry("orch", CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(authority)));
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    var context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    this.client = HttpClient.newBuilder().sslContext(context).build();
  }

  /** The control of a file control.json. */
  public static OrchControl open(Path file) throws Exception {
    return new OrchControl(Files.readString(file), null, () -> {});
  }

  /** Sends a call, whose body may be null, and returns the answer as JSON. */
  public String call(String method, String path, String body) throws Exception {
    var publisher = body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
    var request = HttpRequest.newBuilder(URI.create(url + path)).method(method, publisher)
        .header("Authorization", "Bearer " + token).header("Content-Type", "application/json").build();
    var answer = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() >= 400) throw new IllegalStateException(method + " " + path + ": " + answer.statusCode() + ": " + answer.body());
    return answer.body();
  }

  /** The client configuration of a user with all rights. */
  public String user(String name) throws Exception {
    return textIn(call("POST", "/users", "{\"name\":\"" + name + "\"}"), "kubeconfig");
  }

  /** A separate server, which begins at the present moment and ends when it is closed. `orch explore` gives it weather. */
  public OrchControl fork() throws Exception {
    var exploration = System.getenv().getOrDefault("ORCH_EXPLORE", "");
    var made = call("POST", "/forks", "{\"exploration\":\"" + exploration + "\"}");
    var name = textIn(made, "name");
    var control = made.substring(made.indexOf("\"control\""));
    return new OrchControl(control, textIn(made, "kubeconfig"), () -> {
      try {
        call("DELETE", "/forks/" + name, null);
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
    });
  }

  /** Adds a fault, in JSON, and returns its name. */
  public String addFault(String fault) throws Exception {
    return textIn(call("POST", "/faults", fault), "name");
  }

  /** The requests that a fault has hit. */
  public int hits(String fault) throws Exception {
    return numberIn(call("GET", "/faults/" + fault, null), "hits");
  }

  /** Ends all weather. */
  public void clearFaults() throws Exception {
    call("DELETE", "/faults", null);
  }

  /** The number of logged requests that parameters such as `user=operator&verb=create` choose. */
  public int count(String parameters) throws Exception {
    return (int) Pattern.compile("\"id\"\\s*:").matcher(call("GET", "/requests?" + parameters, null)).results().count();
  }

  /** Returns when the server has no work left. */
  public void settled() throws Exception {
    call("GET", "/settled?within=60s", null);
  }

  /** Observes a user for two seconds, in which nothing else may happen, and describes each loop. */
  public List<String> hotLoops(String user) throws Exception {
    return texts("text", call("GET", "/hot-loops?user=" + user, null)).toList();
  }

  /** Moves the clock of a server with --virtual-clock. */
  public void advance(String by) throws Exception {
    call("POST", "/clock/advance", "{\"by\":\"" + by + "\"}");
  }

  /** Restores the state of the start. */
  public void reset() throws Exception {
    call("POST", "/reset", "{}");
  }

  /** Keeps the present moment under a name. */
  public void snapshot(String name) throws Exception {
    call("POST", "/snapshots", "{\"name\":\"" + name + "\"}");
  }

  /** Restores a moment that was kept. */
  public void restore(String snapshot) throws Exception {
    call("POST", "/restore", "{\"snapshot\":\"" + snapshot + "\"}");
  }

  @Override
  public void close() {
    onClose.run();
  }

  /** The text of the first member of a name in JSON. */
  public static String textIn(String json, String member) {
    return texts(member, json).findFirst().orElseThrow(() -> new IllegalArgumentException("no member " + member + " in " + json));
  }

  private static Stream<String> texts(String member, String json) {
    var pattern = Pattern.compile("\"" + member + "\"\\s*:\\s*\"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"");
    return pattern.matcher(json).results().map(found -> found.group(1).translateEscapes());
  }

  /** The first member of a name in JSON that is a number. */
  public static int numberIn(String json, String member) {
    Matcher matcher = Pattern.compile("\"" + member + "\"\\s*:\\s*(\\d+)").matcher(json);
    if (!matcher.find()) throw new IllegalArgumentException("no member " + member + " in " + json);
    return Integer.parseInt(matcher.group(1));
  }

  /** Shows a fault that hits a call of a fork, and none of the base: `java OrchControl.java control.json`. */
  public static void main(String[] arguments) throws Exception {
    var base = open(Path.of(arguments[0]));
    try (var fork = base.fork()) {
      fork.user("operator");
      fork.call("POST", "/faults", "{\"name\":\"lost\",\"on\":{\"user\":\"operator\"},\"effect\":{\"loseReply\":{}}}");
      System.out.println("ok fork " + fork.call("GET", "/faults", null).contains("\"lost\""));
      System.out.println("ok base " + !base.call("GET", "/faults", null).contains("\"lost\""));
    }
  }
}
