import { admissionSuite, contractSuiteLinks, storageSuite, watchSuite } from '@orch/testkit'
import { afterAll } from 'vitest'
import { contracts, openServices } from './services.ts'

for (const link of contractSuiteLinks({ contracts, open: openServices, script: new URL('./child.ts', import.meta.url) })) {
  afterAll(() => link.close())
  storageSuite(link.name, async () => {
    const { services, close } = await link.open()
    return { storage: services.storage, close }
  })
  watchSuite(link.name, () => link.open())
  admissionSuite(link.name, () => link.open())
}
