/** Sorts test files: the longest begin first, so that no long file runs alone at the end. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files by CPU time including their processes: 21 to 4 s each. The last files of the list wait long. */
const slowest = [
  'test/package/envtest.test.ts',
  'test/e2e/distributed.test.ts',
  'test/examples/examples.test.ts',
  'test/telemetry/services.test.ts',
  'test/telemetry/trace.test.ts',
  'services/orch/src/distributed/encryption.test.ts',
  'test/e2e/up.test.ts',
  'test/api/store.test.ts',
  'test/api/list.test.ts',
  'test/recorded/today.test.ts',
  'services/storage/src/etcd/replicas.test.ts',
  'test/aggregation/objects.test.ts',
  'test/api/watch.test.ts',
  'test/package/package.test.ts',
  'test/client/orchctl-flags.test.ts',
  'test/e2e/kubectl-write.test.ts',
  'test/api/subresources.test.ts',
  'services/orch/src/start/start.test.ts',
  'test/watch/model.test.ts',
  'test/contracts/contracts.test.ts',
  'shared/core/src/schema/levels-round-trip.test.ts',
  'test/e2e/kubectl-rollout.test.ts',
  'test/deploy/deploy.test.ts',
  'test/aggregation/forwarding.test.ts',
  'test/aggregation/smuggling.test.ts',
  'test/workloads/scenarios/deployments.test.ts',
  'test/api/objects.test.ts',
  'test/time/request-seeds.test.ts',
  'test/aggregation/openapi.test.ts',
  'test/identity/impersonation.test.ts',
  'test/audit/audit.test.ts',
  'test/time/workload-seeds.test.ts',
  'test/authorization/rbac.test.ts',
  'services/orch/src/nodes/nodes.test.ts',
  'test/api/deletion.test.ts',
  'test/durability/disk-full.test.ts',
  'test/abuse/slow-readers.test.ts',
  'test/e2e/kubectl.test.ts',
  'test/admission/policies.test.ts',
  'test/authentication/tokens.test.ts',
  'test/e2e/encryption.test.ts',
  'test/contracts/replicas.test.ts',
  'test/threads/counts-once.test.ts',
  'scripts/check-package.test.mjs',
  'test/bench/against/against.test.ts',
  'test/docs/examples.test.ts',
  'test/api/resource-version.test.ts',
  'test/e2e/kubectl-auth-rbac.test.ts',
  'test/e2e/detach.test.ts',
  'test/durability/disk-errors.test.ts',
  'test/workloads/scenarios/replica-sets.test.ts',
  'scripts/mutate.test.mjs',
  'test/api/copies.test.ts',
  'shared/cel/src/environment.test.ts',
  'test/e2e/kubectl-formats.test.ts',
  'test/identity/webhook.test.ts',
  'test/gateway/diagnostics.test.ts',
  'shared/core/src/yaml/round-trip.test.ts',
  'test/admission/webhook-places.test.ts',
  'test/workloads/scenarios/cron-jobs.test.ts',
  'services/orch/src/start/fork.test.ts',
  'test/abuse/early-refusals.test.ts',
  'test/admission/webhook-signals.test.ts',
  'test/e2e/client-node.test.ts',
]

const placeOf = new Map(slowest.map((file, index) => [file, index]))

export default class extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      placeOf.get(relative(this.ctx.config.root, moduleId).replaceAll('\\', '/')) ?? slowest.length
    // Files of a project stay together, because a process takes files of one project only.
    return (await super.sort(files)).sort((a, b) => a.project.name.localeCompare(b.project.name) || place(a) - place(b))
  }
}
