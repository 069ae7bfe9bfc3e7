import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ApiObject } from '@orch/core/meta'
import { aFolder } from '@orch/testkit/folder'
import { describe, expect, onTestFinished, test } from 'vitest'
import { traceCommand } from '../../services/orch/src/trace/show-trace.ts'
import { complaintsOf, findingsOf, hasNoBrowser, withoutBrowser } from './browser.ts'
import { aMap, consoleTest, createMaps, goTo } from './console-test.ts'
import { startQuarrel } from './quarrel.ts'

describe.skipIf(hasNoBrowser)(`work in the console, in Chromium${withoutBrowser}`, () => {
  const console = consoleTest({ nodes: 2, controllers: ['*'], seed: 'a word' }, (server) => createMaps(server, 'one', 3))
  const map = (name: string) => ({ ...aMap('one', name), name, namespace: 'one' })
  const patch = (name: string, data: Record<string, string>) =>
    console.server.user('operator').client.objects.patch(map(name), { data }, { type: 'merge' })

  test('shows all pages at a revision by a slider, with a banner', async () => {
    const { server } = console
    const { metadata } = await patch('map-0', { size: '1' })
    await patch('map-0', { size: '2' })
    const { page, complaints } = await console.at(`object?kind=configmaps&ns=one&name=map-0&at=${metadata.resourceVersion}`)
    await page.getByText('size: "1"').waitFor()
    await page.getByText(`Revision ${metadata.resourceVersion}`).waitFor()
    const slider = page.getByRole('slider', { name: 'Revision' })
    expect(await slider.inputValue()).toBe(metadata.resourceVersion)
    await slider.press('ArrowRight')
    await page.getByText('size: "2"').waitFor()
    await page.getByRole('link', { name: 'Now' }).click()
    await page.getByRole('heading', { name: `Objects at revision ${Number(metadata.resourceVersion) + 1}` }).waitFor()
    await page.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByText('This page shows the present').waitFor()
    await page.getByRole('button', { name: 'Back to the present' }).click()
    await expect.poll(() => page.getByRole('region', { name: 'The moment that is shown' }).count()).toBe(0)
    await server.client.objects.create(aMap('one', 'later'))
    await goTo(page, `objects?kind=configmaps&ns=one&at=${metadata.resourceVersion}`)
    await page.getByRole('link', { name: 'map-2' }).waitFor()
    expect(await page.getByRole('link', { name: 'later' }).count()).toBe(0)
    expect(await findingsOf(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  test('shows no kind on the page Now at a revision before all definitions and objects', async () => {
    const { page } = await console.at('now?at=1')
    await page.getByText('There is none here.').waitFor()
    const table = page.getByRole('table').first()
    expect(await table.getByRole('row').count()).toBe(1)
  })

  test('opens the state of a revision from a lane and from the table', async () => {
    const { page, complaints } = await console.at('timeline')
    await page
      .getByRole('img', { name: /changes/ })
      .first()
      .click({ position: { x: 2, y: 5 } })
    await expect.poll(() => page.url()).toMatch(/at=\d+/)
    await page.getByRole('button', { name: 'Back to the present' }).click()
    await page
      .getByRole('button', { name: /^The state at revision/ })
      .first()
      .click()
    await page.getByText(/^Revision \d+/).waitFor()
    await page.getByLabel('Lanes of').selectOption('clients')
    await page.getByRole('region', { name: 'The clients that changed most' }).waitFor()
    expect(complaints).toEqual([])
  })

  test('exports the timeline as a file that the page of traces and orch trace show read, without values of Secrets', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'word', namespace: 'one' }, stringData: { word: 'hunter2' } }
    await console.server.client.objects.create<ApiObject>(secret)
    const { page, complaints } = await console.at('timeline?ns=one')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as a trace file' }).click(),
    ])
    const folder = aFolder()
    const file = join(folder, download.suggestedFilename())
    await download.saveAs(file)
    let printed = ''
    const terminal = {
      arguments: [],
      env: {},
      workingFolder: folder,
      out: (text: string) => (printed += text),
      error: (text: string) => (printed += text),
    }
    expect(await traceCommand(terminal, ['show', file, '--all'])).toBe(0)
    expect(printed).toMatch(/created ConfigMap one\/map-2/)
    await goTo(page, 'trace')
    await page.getByLabel('The file that a failed test has left').setInputFiles(file)
    await page.getByRole('link', { name: 'Secret one/word' }).waitFor()
    const value = Buffer.from('hunter2').toString('base64')
    await page
      .getByRole('button', { name: /^The change of revision/ })
      .first()
      .click()
    await page.getByText('+ word: redacted').waitFor()
    expect(await page.content()).not.toContain(value)
    expect(complaints).toEqual([])
  })

  test('opens a trace from a disk without a server, and sends no request', async () => {
    const folder = aFolder()
    const file = join(folder, 'a.trace.gz')
    await console.server.saveTrace(file, { test: 'a widget is reconciled', failure: 'expected 3 to be 4' })
    const terminal = { arguments: [], env: {}, workingFolder: folder, out: () => {}, error: () => {} }
    expect(await traceCommand(terminal, ['show', file, '--html', 'a.html'])).toBe(0)
    const context = await console.browser.newContext({ acceptDownloads: false })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const complaints = complaintsOf(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(pathToFileURL(join(folder, 'a.html')).href)
    await page.getByRole('heading', { name: 'a widget is reconciled' }).waitFor()
    await page.getByText('expected 3 to be 4').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('map-2')
    await expect.poll(() => page.getByRole('region', { name: 'Changes, newest first' }).getByRole('row').count()).toBe(2)
    expect(await findingsOf(page)).toEqual([])
    expect(asked.filter((url) => !url.startsWith('file:') && !url.startsWith('data:'))).toEqual([])
    expect(complaints).toEqual([])
    expect(readFileSync(join(folder, 'a.html'), 'utf8')).toMatch(
      /http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/,
    )
  })

  test('explains the decision about a request in its row, and repeats the request after a confirmation', async () => {
    const { page, complaints } = await console.at('requests')
    await patch('map-1', { size: '7' })
    const row = page.getByRole('row', { name: /operator patch configmaps one\/map-1/ }).first()
    await row.getByRole('button').click()
    const details = page.getByRole('region', { name: 'One request', exact: true })
    await details.getByText('RBAC: allowed by').waitFor()
    expect(await details.textContent()).not.toContain('"size"')
    await details.getByRole('button', { name: 'Show the body' }).click()
    await details.getByText('"size": "7"').waitFor()
    const { server } = console
    await server.client.objects.patch(map('map-1'), { data: { size: '8' } }, { type: 'merge' })
    await details.getByRole('button', { name: 'Send again' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send the request again' })
    await dialog.getByText('You send it yourself').waitFor()
    await dialog.getByText('It changes configmaps one/map-1 again, to what the body says.').waitFor()
    expect(await findingsOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await server.client.objects.get(map('map-1'))).toMatchObject({ data: { size: '8' } })
    await details.getByRole('button', { name: 'Send again' }).click()
    await dialog.getByRole('button', { name: 'Send PATCH' }).click()
    await details.getByText('Answered with').waitFor()
    expect(await server.client.objects.get(map('map-1'))).toMatchObject({ data: { size: '7' } })
    const last = server.requests({ verb: 'patch', namespace: 'one' }).findLast(({ name }) => name === 'map-1')
    expect([last?.from, last?.user]).toEqual(['console', server.requests({ path: '/console/ticket' }).at(-1)?.user])
    expect(complaints).toEqual([])
  })

  test('finds two controllers that change the same field in turns in less than a minute', async () => {
    const quarrel = await startQuarrel(console.server)
    onTestFinished(quarrel.stop)
    const startedMs = performance.now()
    const { page } = await console.at('requests')
    const line = page.getByRole('listitem').filter({ hasText: 'in turns' })
    await line.getByText('autoscaler and shop-operator').waitFor()
    await line.getByRole('link', { name: 'configmaps default/settings' }).click()
    await page.getByRole('button', { name: /^\d+$/ }).first().click()
    const difference = page.getByRole('region', { name: 'Difference of two versions' })
    expect(await difference.textContent()).toMatch(/-\s+replicas: "[35]"\+\s+replicas: "[35]"/)
    expect(performance.now() - startedMs).toBeLessThan(60_000)
    expect(await findingsOf(page)).toEqual([])
  })

  test('shows requests of service accounts, and requests of the server and the console only on request', async () => {
    const { server } = console
    const operator = server.user('system:serviceaccount:one:operator')
    await operator.client.objects.get(map('map-0'))
    await server.client.objects.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'placed', namespace: 'one' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    } as ApiObject)
    const { page } = await console.at('requests')
    await page
      .getByRole('row', { name: /operator get configmaps one\/map-0/ })
      .first()
      .waitFor()
    const byScheduler = page.getByRole('row', { name: /system:kube-scheduler/ })
    expect(await byScheduler.count()).toBe(0)
    await page.getByLabel('Requests of').selectOption('all')
    await byScheduler.first().waitFor()
  })

  test('shows open watches with their client, and delayed watches with their lag, on Now and beside their objects', async () => {
    const operator = console.server.user('operator')
    const ending = new AbortController()
    onTestFinished(() => ending.abort())
    const path = '/api/v1/namespaces/one/configmaps?watch=1'
    await operator.client.transport.send({ method: 'GET', path, headers: { 'user-agent': 'manager/v1' }, signal: ending.signal })
    const { page, complaints } = await console.at('now')
    const item = page.getByRole('listitem').filter({ hasText: 'manager/v1' })
    await item.getByText('up to date').waitFor()
    await page.getByText('Settled').waitFor()
    await goTo(page, 'weather')
    await page.getByRole('combobox', { name: 'Effect' }).last().selectOption('hold')
    const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Do it' }) })
    await form.getByLabel('User').fill('operator')
    await form.getByRole('button', { name: 'Do it' }).click()
    await page.getByText('watches/hold').waitFor()
    await patch('map-2', { held: '1' })
    await goTo(page, 'object?kind=configmaps&ns=one&name=map-2')
    await page
      .getByRole('listitem')
      .filter({ hasText: 'manager/v1' })
      .getByText(/held, \d+ revisions? behind/)
      .waitFor()
    await goTo(page, 'weather')
    await page.getByRole('button', { name: /^Release/ }).click()
    await page.getByText('No watch is held, and no read is frozen.').waitFor()
    await goTo(page, 'now')
    await item.getByText('up to date').waitFor()
    expect(complaints).toEqual([])
  })

  test('shows the owners and dependants of an object as a graph', async () => {
    const { server } = console
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const spec = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template }
    await server.client.objects.create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'one' },
      spec,
    } as ApiObject)
    await server.settled({ within: 60_000 })
    const { page, complaints } = await console.at('object?kind=deployments.apps&ns=one&name=web')
    const graph = page.getByRole('region', { name: 'Owners at the left, dependants at the right' })
    await expect.poll(() => graph.getByRole('link', { name: /^Pod web-/ }).count()).toBe(2)
    // The names of the Pods are shortened.
    expect(await findingsOf(page)).toEqual([])
    await graph.getByRole('link', { name: /^ReplicaSet web-/ }).click()
    await expect.poll(() => graph.getByRole('link', { name: 'Deployment web' }).count()).toBe(1)
    expect(complaints).toEqual([])
  })

  test('shows who has to remove a stuck finalizer, whether that client watches, and the end of the object', async () => {
    const { client } = console.server
    const operator = console.server.user('operator').client
    const metadata = { name: 'stuck', namespace: 'going', finalizers: ['shop.example.com/backup'] }
    const stuck = { ...map('stuck'), namespace: 'going' }
    await client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } })
    await client.objects.create({ ...aMap('going', 'stuck'), metadata }, { fieldManager: 'installer' })
    await client.objects.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'going' })
    const { page, complaints } = await console.at('object?kind=namespaces&name=going')
    await page.getByText('is removed by the namespace controller, when the namespace is empty').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'finalizers remaining: shop.example.com/backup in 1 resource' }).waitFor()
    await goTo(page, 'object?kind=configmaps&ns=going&name=stuck')
    await page.getByText(/^Deletion began at \d{4}-/).waitFor()
    await page.getByText('is removed by the controller that writes shop.example.com; written by installer').waitFor()
    await page.getByText('no client watches it: the controller may not run').waitFor()
    expect(await findingsOf(page)).toEqual([])
    const ending = new AbortController()
    onTestFinished(() => ending.abort())
    const headers = { 'user-agent': 'shop-operator/v1' }
    await operator.transport.send({ method: 'GET', path: '/api/v1/configmaps?watch=1', headers, signal: ending.signal })
    await page.getByRole('listitem').filter({ hasText: 'operator shop-operator/v1' }).waitFor()
    expect(await page.getByText('no client watches it').count()).toBe(0)
    await operator.objects.patch(stuck, { metadata: { finalizers: null } }, { type: 'merge' })
    await page.getByText('The object has been deleted. This was its last state.').waitFor()
    await goTo(page, 'object?kind=namespaces&name=going')
    await page.getByText(/The object has been deleted|"going" not found/).waitFor()
    expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([])
  })

  test('shows new namespaces and kinds without a reload, and that the kind of an open page is gone', async () => {
    const { client } = console.server
    const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
    const { page, complaints } = await console.at('now?empty=1&filter=widget')
    await page.getByText('No kind matches').waitFor()
    await page.route(/\/api\/apis$/, (route) => route.fulfill({ status: 503 }), { times: 1 })
    await client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } })
    await page.getByText('The kinds cannot be read').waitFor()
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget' }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
    const spec = { group: 'example.com', scope: 'Namespaced', names, versions }
    await client.objects.create({ ...definition, metadata: { name: 'widgets.example.com' }, ...{ spec } })
    await page.getByRole('option', { name: 'fresh' }).waitFor({ state: 'attached' })
    await page.getByText('The kinds cannot be read').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: /^Widget example.com/ }).click()
    await page.getByText('There is none on this server.').waitFor()
    await client.objects.delete({ ...definition, name: 'widgets.example.com' })
    await page.getByText('The server has no such kind.').waitFor()
    expect(complaints.filter((complaint) => !/404|503/.test(complaint))).toEqual([])
  })

  test('freezes reads, shows the seed, and opens the console of a fork until the fork is ended', async () => {
    console.server.user('reader')
    const { page, complaints } = await console.at('weather')
    await page.getByText('Seed a word').waitFor()
    const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Freeze' }) })
    await form.getByLabel('User').selectOption('reader')
    await form.getByRole('button', { name: 'Freeze' }).click()
    await page.getByText('reads/freeze').waitFor()
    await page.getByRole('button', { name: /^Release/ }).click()
    await page.getByRole('button', { name: 'Fork this moment' }).click()
    await page.getByRole('button', { name: 'Console of fork-1' }).click()
    const link = await page.getByRole('link', { name: 'Open the console of fork-1' }).getAttribute('href')
    const { page: other } = await console.open(link ?? '')
    await goTo(other, 'objects?kind=configmaps&ns=one')
    await other.getByRole('link', { name: 'map-0' }).waitFor()
    await page.getByRole('button', { name: 'End fork-1' }).click()
    await page.getByText('none was made').waitFor()
    await expect(other.reload()).rejects.toThrow('ERR_CONNECTION_REFUSED')
    expect(complaints).toEqual([])
  })

  test('loads a dump without the values of its Secrets, and refuses an invalid file', async () => {
    const { page, complaints } = await console.at('weather')
    const dump = [
      aMap('one', 'dumped'),
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'dumped', namespace: 'one' }, data: { word: 'aHVudGVyMg==' } },
    ]
    const input = page.getByLabel('A file of kubectl')
    const load = async (name: string, text: string) => {
      await input.setInputFiles({ name, mimeType: '', buffer: Buffer.from(text) })
      await page.getByRole('button', { name: 'Load', exact: true }).click()
    }
    await load('a dump.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: dump }))
    await page.getByText('2 objects loaded: 1 ConfigMap, 1 Secret.').waitFor()
    const found = await console.server.client.objects.get({ ...map('dumped'), kind: 'Secret' })
    expect(found).toMatchObject({ data: { word: Buffer.from('redacted').toString('base64') } })
    expect(complaints).toEqual([])
    await load('none.yaml', 'a: [')
    await page.getByText(/^none.yaml/).waitFor()
  })

  test('adds, counts and removes a fault in calls of the server', async () => {
    const { page, complaints } = await console.at('weather')
    const form = page.locator('form').filter({ has: page.getByLabel('Called') })
    await form.getByLabel('Called').selectOption('admission webhook')
    await form.getByLabel('Name').fill('deny.*')
    await form.getByLabel('Times').fill('0')
    await form.getByLabel('Effect').selectOption('answer 500')
    await form.getByRole('button', { name: 'Add' }).click()
    const item = page.getByRole('listitem').filter({ hasText: 'webhook/deny.*' })
    await item.getByText('0 hits').waitFor()
    const webhook = {
      ...{ name: 'deny.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], failurePolicy: 'Ignore' },
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'one' } },
    }
    const kind = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' }
    await console.server.client.objects.create<ApiObject>({ ...kind, metadata: { name: 'deny' }, ...{ webhooks: [webhook] } })
    await console.server.client.objects.create(aMap('one', 'called'))
    await item.getByText('1 hit').waitFor()
    await console.server.client.objects.delete({ ...kind, name: 'deny' })
    await item.getByRole('button', { name: /^Remove/ }).click()
    await page.getByText('The weather is fine.').waitFor()
    expect(complaints).toEqual([])
  })

  test('shows admission results on the page Access, and a dry run with its decisions', async () => {
    const { page, complaints } = await console.at('access')
    await page.getByRole('region', { name: 'Plugins' }).getByText('NamespaceLifecycle').first().waitFor()
    const editor = page.getByRole('textbox', { name: 'Object as YAML' })
    await page.locator('.editor .cm-editor').waitFor()
    const type = async (text: string) => {
      await editor.press('ControlOrMeta+a')
      await page.keyboard.insertText(text)
    }
    await type('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dry, namespace: one}\ndata: {key: 1}\n')
    await page.getByRole('button', { name: 'Apply without storing' }).click()
    await page.getByText('The object needs apiVersion, kind and metadata.name').waitFor()
    await type('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dry\n  namespace: one\ndata:\n  key: value\n')
    await page.getByRole('button', { name: 'Apply without storing' }).click()
    await page.getByText('The server would accept it (201).').waitFor()
    await page.getByText('by session of the console').waitFor()
    await page.getByText(/steps of admission in/).waitFor()
    await expect(console.server.client.objects.get(map('dry'))).rejects.toMatchObject({ code: 404 })
    // axe copies the styles of a shadow root into a style element, which the policy forbids.
    expect(complaints).toEqual([])
    expect(await findingsOf(page)).toEqual([])
  })

  test('opens a kind, the filter and the help by keyboard, and stops animations with reduced motion', async () => {
    const { page } = await console.at('now', { reducedMotion: 'reduce' })
    await page.keyboard.press(':')
    await page.keyboard.type('cm')
    await page.getByRole('link', { name: 'ConfigMap configmaps' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^ConfigMap/ }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('map-1')
    await expect.poll(() => page.getByRole('link', { name: /^map-/ }).count()).toBe(1)
    await page.locator('body').click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Help' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('w')
    await page.getByRole('heading', { name: 'Weather and time' }).waitFor()
    const moving =
      '[...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule instanceof CSSMediaRule && /animation|transition/.test(rule.cssText)).map((rule) => rule.conditionText)'
    expect(await page.evaluate(moving)).toEqual(['(prefers-reduced-motion: no-preference)'])
  })
})
