import { defineConfig, mergeConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { shared } from './vitest.config.ts'

/** By path: the quick tests beside the code, in services/ and shared/, come before those over HTTP in test/. The first failure ends a run. */
class ByPath extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1)))
  }
}

/** `npm run mutate`: the tests of one scope, which the environment names. One process per change, so that no change sees another's state. */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: JSON.parse(process.env.ORCH_MUTATION_TESTS ?? '[]'),
      maxWorkers: 1,
      isolate: false,
      sequence: { sequencer: ByPath },
    },
  }),
)
