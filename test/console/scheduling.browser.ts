import type { ApiObject } from '@orch/core/meta'
import { describe, expect, test } from 'vitest'
import { findingsOf, hasNoBrowser, withoutBrowser } from './browser.ts'
import { consoleTest, goTo } from './console-test.ts'

/** More Pods than the page shows. */
const podCount = 501

function anObject(apiVersion: string, kind: string, name: string, spec: object, namespace?: string): ApiObject {
  const object = { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, spec }
  return object
}

const aPod = (name: string, spec: object) => anObject('v1', 'Pod', name, { containers: [{ name: 'c', image: 'i' }], ...spec }, 'default')

describe.skipIf(hasNoBrowser)(`the page Scheduling, in Chromium${withoutBrowser}`, () => {
  const console = consoleTest({ nodes: 1 }, async ({ client, settled }) => {
    const names = Array.from({ length: podCount }, (_, index) => `waiting-${String(index).padStart(3, '0')}`)
    await Promise.all(names.map((name) => client.objects.create(aPod(name, { nodeSelector: { disk: 'ssd' } }))))
    const devices = { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] }
    await client.objects.create(anObject('resource.k8s.io/v1', 'DeviceClass', 'gpu', {}))
    await client.objects.create(anObject('resource.k8s.io/v1', 'ResourceClaim', 'gpu', { devices }, 'default'))
    await client.objects.create(aPod('a-gpu', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] }))
    await settled({ within: 60_000 })
  })

  test('says that it shows the first 500 Pods, and filters them', async () => {
    const { page, complaints } = await console.at('scheduling')
    await page.getByText('These are the first 500: choose a namespace to see others.').waitFor()
    await goTo(page, 'scheduling?filter=Waiting-10')
    await expect.poll(() => page.getByRole('listitem').count()).toBe(10)
    await goTo(page, 'scheduling?filter=nothing')
    await page.getByText('No Pod matches: clear the filter.').waitFor()
    expect(complaints).toEqual([])
  })

  test('explains a Pod beside its name, far down in the list', async () => {
    const { page, complaints } = await console.at('scheduling')
    const row = page.getByRole('listitem').filter({ hasText: 'default/waiting-250' })
    await row.getByRole('link').click()
    await row.getByRole('region', { name: 'Nodes and plugins' }).getByText('NodeAffinity').waitFor()
    expect(await findingsOf(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('explains a Pod that waits for a device', async () => {
    const { page, complaints } = await console.at('scheduling?pod=default/a-gpu')
    await page.getByRole('region', { name: 'Nodes and plugins' }).getByText('DynamicResources').waitFor()
    expect(complaints).toEqual([])
  })
})
