import { join } from 'node:path'
import type { ApiObject } from '@orch/core/meta'
import { aFolder } from '@orch/testkit/folder'
import { start } from 'orch'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { complaintsOf, findingsOf, hasNoBrowser, openBrowser, withoutBrowser } from './browser.ts'

describe.skipIf(hasNoBrowser)(`the console in Chromium${withoutBrowser}`, () => {
  let server: Awaited<ReturnType<typeof start>>
  let browser: Browser

  beforeAll(async () => {
    server = await start({ console: true, control: true, profile: 'kubernetes', nodes: 2 })
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

  /** A page that has opened a link, and the page's complaints. */
  async function aPage(link: string, options = {}): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext(options)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const complaints = complaintsOf(page)
    await page.goto(link)
    return { page, complaints }
  }

  test('counts kinds by namespace on the page Now, and follows changes', async () => {
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

  /** Each page, and a text that the complete page shows. */
  const places = [
    ['now', 'Nodes'],
    ['objects?kind=configmaps', 'map-0'],
    ['object?kind=configmaps&ns=one&name=map-0', 'no dependants'],
    ['timeline', 'map-2'],
    ['requests', '/console/ticket'],
    ['scheduling', 'Each Pod has a node.'],
    ['access', 'May a user do this?'],
    ['weather', 'The weather is fine.'],
    ['trace', 'The file that a failed test has left'],
  ] as const

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('has no axe findings and no page errors, and fits the screen: %s, %i pixels', async (colorScheme, width) => {
    const { page, complaints } = await aPage(await server.console(), { colorScheme, viewport: { width, height: 800 } })
    await page.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    for (const [place, text] of places) {
      await page.evaluate(`location.hash = '#/${place}'`)
      await page.getByText(text).first().waitFor()
      expect([place, await findingsOf(page)]).toEqual([place, []])
      expect([place, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([place, width])
    }
    expect(complaints).toEqual([])
  })

  test('shows a hot loop at the top of the requests, and hides values of a Secret until they are requested', async () => {
    const operator = server.user('operator')
    const patch = { ...aMap('one', 'map-1'), name: 'map-1', namespace: 'one' }
    for (let count = 0; count < 30; count++) await operator.client.objects.patch(patch, { data: { a: '1' } }, { type: 'merge' })
    const { page } = await aPage(await server.console())
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByText('operator sends patch configmaps map-1').waitFor()
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: 'one' }, stringData: { word: 'hunter2' } }
    await server.client.objects.create<ApiObject>(secret)
    await page.evaluate("location.hash = '#/object?kind=secrets&ns=one&name=key'")
    await page.getByText('The values of a Secret are not shown.').waitFor()
    const value = Buffer.from('hunter2').toString('base64')
    expect(await page.content()).not.toContain(value)
    await page.getByRole('button', { name: 'Show the values' }).click()
    await page.getByText(value).waitFor()
  })

  test('reports missing rights to Secrets on the page Now and on the page of Secrets', async () => {
    const rules = [
      { nonResourceURLs: ['/console/ticket', '/api', '/api/*', '/apis', '/apis/*'], verbs: ['get', 'post'] },
      { apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['get', 'list', 'watch'] },
    ]
    const viewer = server.user('viewer', { rules })
    const { url } = await viewer.client.request<{ url: string }>({ method: 'POST', path: '/console/ticket' })
    const { page } = await aPage(url)
    await page.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    await page.evaluate("location.hash = '#/now?empty=1&filter=secret'")
    const cells = page.getByRole('row', { name: /^Secret/ }).getByRole('cell')
    await expect.poll(() => cells.nth(1).textContent()).toBe('forbidden')
    await page.evaluate("location.hash = '#/objects?kind=secrets&filter=a'")
    await page.getByText('User "viewer" cannot list resource "secrets"').waitFor()
    expect(await page.getByText(/^0 of/).count()).toBe(0)
    await page.evaluate("location.hash = '#/object?kind=configmaps&ns=one&name=map-0'")
    await page.getByText(/^There may be more dependants, because these were not read: .* \(forbidden\)/).waitFor()
  })

  test('offers all namespaces of a list with several pages', async () => {
    const { page } = await aPage(await server.console())
    await page.route(/\/namespaces\?limit=1000/, (route) => route.continue({ url: route.request().url().replace('limit=1000', 'limit=4') }))
    await page.reload()
    const options = () => page.getByRole('combobox', { name: 'Namespace' }).getByRole('option').allTextContents()
    await expect.poll(options).toEqual(['all namespaces', 'default', 'kube-node-lease', 'kube-public', 'kube-system', 'one', 'other'])
  })

  test('counts the Pods of all nodes with one request', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one', namespace: 'one' } }
    await server.client.objects.create<ApiObject>({ ...pod, spec: { nodeName: 'node-1', containers: [{ name: 'a', image: 'a' }] } })
    const { page } = await aPage(await server.console())
    await page.getByRole('link', { name: '1 of 110 Pods' }).waitFor()
    await page.getByRole('link', { name: '0 of 110 Pods' }).waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.reload()
    const ofNodes = () => asked.flatMap((path) => /\/api\/v1\/(nodes|pods)$/.exec(path)?.[1] ?? [])
    await expect.poll(() => ofNodes().length, { timeout: 30_000 }).toBeGreaterThan(2)
    expect(ofNodes().slice(0, 3)).toEqual(['nodes', 'pods', 'nodes'])
  })

  test('shows the file of a failed test without a session', async () => {
    const folder = aFolder()
    const file = join(folder, 'a.trace.gz')
    await server.saveTrace(file, { test: 'a widget is reconciled', failure: 'expected 3 to be 4' })
    const { page, complaints } = await aPage(`${(await server.console()).split('#')[0]}`)
    await page.getByRole('link', { name: 'trace file' }).click()
    await page.getByLabel('The file that a failed test has left').setInputFiles(file)
    await page.getByRole('heading', { name: 'a widget is reconciled' }).waitFor()
    await page.getByText('expected 3 to be 4').waitFor()
    await page
      .getByRole('row', { name: /ConfigMap \S+\/map-2/ })
      .first()
      .waitFor()
    await page.getByRole('region', { name: 'Requests, newest first' }).getByRole('row').nth(1).waitFor()
    expect(await findingsOf(page)).toEqual([])
    expect(complaints).toEqual([])
    await page
      .getByLabel('The file that a failed test has left')
      .setInputFiles({ name: 'b.gz', mimeType: '', buffer: Buffer.from('no gzip') })
    await page.getByText('b.gz cannot be read').waitFor()
  })

  test('opens a second tab in the session of the first, and both end with the session', async () => {
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

  test('does not open a second browser with the same link', async () => {
    const link = await server.console()
    const { page } = await aPage(link)
    await page.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    const { page: other } = await aPage(link)
    await other.getByText('the link has been used').waitFor()
    await expect(other.getByRole('table').count()).resolves.toBe(0)
  })
})
