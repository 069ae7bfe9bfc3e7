import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test a server of its own, a fork of the one whose control.json ORCH_CONTROL names: `@ExtendWith(OrchFork.class)`, and a
 * parameter of the type OrchControl. Tests are skipped where there is no such server.
 */
public final class OrchFork implements BeforeEachCallback, ParameterResolver {
  private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(OrchFork.class);

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    var file = System.getenv("ORCH_CONTROL");
    if (file == null && System.getenv("ORCH_EXPLORE") != null)
      throw new IllegalStateException("ORCH_CONTROL names no control.json of orch up --control");
    Assumptions.assumeTrue(file != null, "ORCH_CONTROL names no control.json of orch up --control");
    // From 5.13 on JUnit closes it with the test.
    context.getStore(NAMESPACE).put("fork", OrchControl.open(Path.of(file)).fork());
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == OrchControl.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context.getStore(NAMESPACE).get("fork", OrchControl.class);
  }
}
