import { admissionSuite, contractSuiteLinks, nodesSuite, storageSuite, watchSuite } from '@orch/testkit'
import { afterAll, vi } from 'vitest'
import { contracts, openServices } from './services.ts'

// The first test of a link waits until a process has started, which is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

for (const link of contractSuiteLinks({ contracts, open: openServices, script: new URL('./child.ts', import.meta.url) })) {
  afterAll(() => link.close())
  storageSuite(link.name, async () => {
    const { services, close } = await link.open()
    return { storage: services.storage, close }
  })
  watchSuite(link.name, () => link.open())
  admissionSuite(link.name, () => link.open())
  nodesSuite(link.name, () => link.open())
}
