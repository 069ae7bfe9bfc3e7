/** The order of test files: the longest begin first, so that none of them runs alone at the end. */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files, slowest first: 5 to 40 s each on two cores. Most of them start processes and wait for them. */
const slowest = [
  'test/watch/model.test.ts',
  'test/e2e/distributed.test.ts',
  'test/package/envtest.test.ts',
  'test/contracts/contracts.test.ts',
  'test/examples/examples.test.ts',
  'test/e2e/kubectl.test.ts',
  'test/e2e/kubectl-write.test.ts',
  'services/storage/src/etcd/replicas.test.ts',
  'test/threads/audit.test.ts',
  'test/threads/files-once.test.ts',
  'test/threads/counts-once.test.ts',
  'test/threads/threads.test.ts',
  'test/durability/damaged-at-random.test.ts',
  'test/durability/restore-kill.test.ts',
  'test/e2e/controller-life.test.ts',
  'test/e2e/kubectl-auth-rbac.test.ts',
  'test/telemetry/trace.test.ts',
  'test/telemetry/services.test.ts',
  'test/e2e/kubectl-custom.test.ts',
  'test/e2e/up.test.ts',
  'test/aggregation/openapi.test.ts',
  'test/aggregation/time-limits.test.ts',
  'test/e2e/kubectl-auth.test.ts',
  'test/bench/against/against.test.ts',
  'services/orch/src/start/start.test.ts',
  'test/contracts/replicas.test.ts',
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
