import { admissionSuite, contractSuiteLinks, nodesSuite, storageSuite, watchSuite } from '@orch/testkit'
import { afterAll, vi } from 'vitest'
import { contracts, openServices } from './services.ts'

// The first test of a link waits until a process has started, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const { direct, thread, plain, encrypted } = contractSuiteLinks({
  contracts,
  open: openServices,
  script: new URL('./child.ts', import.meta.url),
})

for (const link of [direct, thread, encrypted]) {
  storageSuite(link.name, async () => {
    const { services, close } = await link.open()
    return { storage: services.storage, close }
  })
  admissionSuite(link.name, () => link.open())
  nodesSuite(link.name, () => link.open())
}

// The messages are the same without TLS. This suite sends them in calls and streams, and writes for each of its tests.
for (const link of [direct, thread, encrypted, plain]) {
  afterAll(() => link.close())
  watchSuite(link.name, () => link.open())
}
