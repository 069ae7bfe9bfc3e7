/** The order of test files: the longest begin first, so that none of them runs alone at the end. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files, by their CPU time and that of their processes: 32 to 5 s each. The last ones of the list wait long. */
const slowest = [
  'test/package/envtest.test.ts',
  'test/e2e/distributed.test.ts',
  'test/telemetry/services.test.ts',
  'test/e2e/up.test.ts',
  'test/workloads/scenarios/deployments.test.ts',
  'test/api/store.test.ts',
  'test/telemetry/trace.test.ts',
  'test/e2e/kubectl.test.ts',
  'shared/core/src/schema/levels-round-trip.test.ts',
  'test/contracts/contracts.test.ts',
  'services/storage/src/etcd/replicas.test.ts',
  'services/orch/src/start/start.test.ts',
  'test/workloads/scenarios/cron-jobs.test.ts',
  'test/e2e/kubectl-write.test.ts',
  'test/examples/examples.test.ts',
  'test/time/request-seeds.test.ts',
  'test/time/workload-seeds.test.ts',
  'test/api/list.test.ts',
  'services/orch/src/distributed/encryption.test.ts',
  'test/package/package.test.ts',
  'test/client/orchctl-flags.test.ts',
  'test/recorded/today.test.ts',
  'test/e2e/kubectl-rollout.test.ts',
  'test/identity/impersonation.test.ts',
  'test/authentication/tokens.test.ts',
  'test/watch/model.test.ts',
  'test/aggregation/forwarding.test.ts',
  'test/aggregation/openapi.test.ts',
  'test/aggregation/smuggling.test.ts',
  'test/e2e/encryption.test.ts',
  'test/deploy/deploy.test.ts',
  'test/abuse/slow-readers.test.ts',
  'test/workloads/scenarios/autoscalers.test.ts',
  'test/threads/counts-once.test.ts',
  'services/orch/src/nodes/nodes.test.ts',
  'test/audit/audit.test.ts',
  'scripts/check-package.test.mjs',
  'shared/core/src/yaml/round-trip.test.ts',
  'test/workloads/scenarios/stateful-sets.test.ts',
  'test/workloads/scenarios/replica-sets.test.ts',
  'test/bench/against/against.test.ts',
  'shared/cel/src/environment.test.ts',
  'test/threads/audit.test.ts',
  'test/workloads/scenarios/jobs.test.ts',
  'test/workloads/scenarios/daemon-sets.test.ts',
  'test/durability/disk-full.test.ts',
  'test/e2e/kubectl-auth-rbac.test.ts',
  'test/docs/examples.test.ts',
  'shared/platform/src/rpc/rpc.test.ts',
  'test/abuse/early-refusals.test.ts',
  'test/contracts/replicas.test.ts',
  'test/e2e/kubectl-formats.test.ts',
  'test/threads/files-once.test.ts',
  'test/threads/threads.test.ts',
  'test/durability/damaged-at-random.test.ts',
  'test/durability/restore-kill.test.ts',
  'test/e2e/controller-life.test.ts',
  'test/e2e/kubectl-custom.test.ts',
  'test/aggregation/time-limits.test.ts',
  'test/e2e/kubectl-auth.test.ts',
  'services/storage/src/etcd/member-outages.test.ts',
]

const placeOf = new Map(slowest.map((file, index) => [file, index]))

export default class extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      placeOf.get(relative(this.ctx.config.root, moduleId).replaceAll('\\', '/')) ?? slowest.length
    // Files of a project stay together: a process takes those of one project.
    return (await super.sort(files)).sort((a, b) => a.project.name.localeCompare(b.project.name) || place(a) - place(b))
  }
}
