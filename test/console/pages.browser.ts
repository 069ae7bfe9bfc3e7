import type { ApiObject } from '@orch/core/meta'
import { start } from 'orch'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { complaintsOf, findingsOf, hasNoBrowser, openBrowser, withoutBrowser } from './browser.ts'

describe.skipIf(hasNoBrowser)(`the console in Chromium${withoutBrowser}`, () => {
  let server: Awaited<ReturnType<typeof start>>
  let browser: Browser

  beforeAll(async () => {
    server = await start({ console: true, profile: 'kubernetes', nodes: 2 })
    browser = await openBrowser()
    for (const name of ['one', 'other']) await createNamespace(name)
    await createMaps('one', 3)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  const createNamespace = (name: string) => server.client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const aMap = (namespace: string, name: string): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } })
  const createMaps = (namespace: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => server.client.objects.create(aMap(namespace, `map-${index}`))))

  /** A page that has opened a link, and its complaints. */
  async function aPage(link: string, options = {}): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext(options)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const complaints = complaintsOf(page)
    await page.goto(link)
    return { page, complaints }
  }

  test('the page Now counts kinds by namespace, and follows changes', async () => {
    const { page, complaints } = await aPage(await server.console())
    const count = page
      .getByRole('row', { name: /^ConfigMap/ })
      .getByRole('cell')
      .nth(1)
    await expect.poll(() => count.textContent()).toBe('4')
    await server.client.objects.create(aMap('other', 'late'))
    await expect.poll(() => count.textContent()).toBe('5')
    await server.client.objects.delete({ apiVersion: 'v1', kind: 'ConfigMap', name: 'late', namespace: 'other' })
    await expect.poll(() => count.textContent()).toBe('4')
    expect(page.url()).toMatch(/\/console\/#\/now$/)
    expect(complaints).toEqual([])
  })

  test.each(['light', 'dark'] as const)('axe finds nothing on the pages in %s', async (colorScheme) => {
    const { page } = await aPage(await server.console(), { colorScheme })
    await page.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    expect(await findingsOf(page)).toEqual([])
  })

  test('a second tab uses the session of the first, and both end with it', async () => {
    const { page } = await aPage(await server.console())
    await page.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    const second = await page.context().newPage()
    await second.goto(page.url())
    await second.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('button', { name: 'Log out in all tabs' }).click()
    await page.getByRole('heading', { name: 'No session' }).waitFor()
    await second.reload()
    await second.getByRole('heading', { name: 'No session' }).waitFor()
    await expect(second.getByRole('table').count()).resolves.toBe(0)
  })

  test('a link opens no second browser', async () => {
    const link = await server.console()
    const { page } = await aPage(link)
    await page.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    const { page: other } = await aPage(link)
    await other.getByText('the link has been used').waitFor()
    await expect(other.getByRole('table').count()).resolves.toBe(0)
  })
})
