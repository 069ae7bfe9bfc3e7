import type { ApiObject } from '@orch/core/meta'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hasNoBrowser, withoutBrowser } from './browser.ts'
import { consoleTest, createMaps, goTo } from './console-test.ts'
import { openPage } from './page.ts'

const word = 'hunter2'
const value = Buffer.from(word).toString('base64')
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: 'one' } }

describe.skipIf(hasNoBrowser)(`permissions in the console, in Chromium${withoutBrowser}`, () => {
  const console = consoleTest({}, async (server) => {
    for (const namespace of ['one', 'hidden']) await createMaps(server, namespace, 3)
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ ...secret, stringData: { word } }) }
    const whole = { ...secret, metadata: { ...secret.metadata, annotations }, stringData: { word } }
    await server.client.objects.create<ApiObject>(whole)
    await server.client.objects.patch({ ...secret, name: 'key', namespace: 'one' }, { stringData: { more: word } }, { type: 'merge' })
  })

  /** The texts of all answers that a page reads completely. */
  function answersOf(page: Page): string[] {
    const answers: string[] = []
    page.on('response', (response) => {
      // An event stream has no end while its page is open.
      if (!/\/watches$|watch=true/.test(response.url()))
        void response.text().then(
          (text) => answers.push(text),
          () => {},
        )
    })
    return answers
  }

  const places = [
    ['now', 'Open watches|Nodes|Objects'],
    ['objects?kind=secrets&ns=one', 'key'],
    ['object?kind=secrets&ns=one&name=key', 'The values of a Secret are not shown.'],
    ['timeline?ns=one', 'Secret one/key'],
    ['requests', 'secrets one/key'],
    ['scheduling', 'Scheduling'],
    ['access', 'May a user do this?'],
    ['weather', 'The weather is fine.'],
  ] as const

  test('hide the value of a Secret on every page unless it is requested', async () => {
    const { page } = await console.at('now')
    const answers = answersOf(page)
    const leaks = (text: string) => text.includes(word) || text.includes(value)
    for (const [place, text] of places) {
      await goTo(page, place)
      await page.getByText(new RegExp(text)).first().waitFor()
      expect([place, leaks(await page.content())]).toEqual([place, false])
    }
    await goTo(page, 'requests')
    await page
      .getByRole('row', { name: /patch secrets one\/key/ })
      .getByRole('button')
      .click()
    await page.getByRole('button', { name: 'Show the body, with the values of the Secret' }).waitFor()
    expect([leaks(await page.content()), answers.length > 10, answers.filter(leaks)]).toEqual([false, true, []])
    await page.getByRole('button', { name: 'Show the body, with the values of the Secret' }).click()
    await page.getByText(word).waitFor()
  })

  test('allow a dry run of a Secret to show its decisions, and no stored values', async () => {
    const { page } = await console.at('access')
    const answers = answersOf(page)
    await page.locator('.editor .cm-editor').waitFor()
    await page.getByRole('textbox', { name: 'Object as YAML' }).press('ControlOrMeta+a')
    await page.keyboard.insertText('apiVersion: v1\nkind: Secret\nmetadata:\n  name: key\n  namespace: one\ntype: Opaque\n')
    await page.getByRole('button', { name: 'Apply without storing' }).click()
    await page.getByText('The server would accept it (200).').waitFor()
    await page.getByText('The values of a Secret are not shown.').waitFor()
    expect([answers.length > 0, answers.filter((text) => text.includes(word) || text.includes(value))]).toEqual([true, []])
  })

  test('of a user in one namespace show only that namespace', async () => {
    const { server } = console
    const rbac = 'rbac.authorization.k8s.io'
    const viewer = server.user('guest', { rules: [{ nonResourceURLs: ['/console/ticket', '/orch/v1/timeline'], verbs: ['get', 'post'] }] })
    await server.client.objects.create<ApiObject>({
      ...{ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata: { name: 'guest', namespace: 'one' } },
      ...{ roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' }, subjects: [{ apiGroup: rbac, kind: 'User', name: 'guest' }] },
    })
    const { url } = await viewer.client.request<{ url: string }>({ method: 'POST', path: '/console/ticket' })
    const { page } = await console.open(url)
    const answers = answersOf(page)
    await page.getByText('You may not list namespaces: enter the name of one above.').waitFor()
    await page.getByRole('textbox', { name: 'Namespace' }).fill('one')
    await page.getByRole('textbox', { name: 'Namespace' }).press('Enter')
    await page.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    await goTo(page, 'objects?kind=configmaps&ns=hidden')
    await page.getByText('User "guest" cannot list resource "configmaps"').waitFor()
    await goTo(page, 'timeline')
    await page
      .getByRole('row', { name: /ConfigMap \S+\/map-2/ })
      .first()
      .waitFor()
    await goTo(page, 'object?kind=secrets&ns=one&name=key')
    await page.getByText('User "guest" cannot get resource "secrets"').waitFor()
    await goTo(page, 'requests')
    await page.getByText('cannot get path').waitFor()
    const ofOthers = answers.filter((text) => /"namespace":"hidden"|"name":"hidden"/.test(text))
    expect([answers.length > 10, ofOthers]).toEqual([true, []])
  })

  test('to list a kind without watching it lead to further counts of that kind alone', async () => {
    const rules = [
      { nonResourceURLs: ['/console/ticket', '/api', '/api/*', '/apis', '/apis/*'], verbs: ['get', 'post'] },
      { apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['list'] },
    ]
    const lister = console.server.user('lister', { rules })
    const { url } = await lister.client.request<{ url: string }>({ method: 'POST', path: '/console/ticket' })
    const { page } = await console.open(url)
    const lists: string[] = []
    page.on('request', (request) => lists.push(/\/([a-z]+)\?limit=250$/.exec(request.url())?.[1] ?? ''))
    await expect.poll(() => lists.filter((resource) => resource === 'secrets').length, { timeout: 30_000 }).toBe(2)
    expect(lists.filter((resource) => resource === 'configmaps')).toEqual(['configmaps'])
  })

  test('end with the session, which closes each open page until a new link is entered in it', async () => {
    const { page } = await console.at('now')
    const second = await page.context().newPage()
    await second.goto(page.url())
    await second.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('button', { name: 'Log out in all tabs' }).click()
    await second.getByRole('heading', { name: 'No session' }).waitFor()
    await second.getByText('the session has ended').waitFor()
    expect(await second.getByRole('table').count()).toBe(0)
    await second.goto(await console.server.console())
    await second.getByRole('row', { name: /^ConfigMap/ }).waitFor()
  })

  test('end with a session that the server ends, as after its time, and the page says so', async () => {
    const { page } = await console.at('objects?kind=configmaps&ns=one')
    await page.getByRole('link', { name: 'map-0' }).waitFor()
    // A user has 16 sessions: the server ends the oldest one.
    for (let session = 0; session < 16; session++) await openPage(await console.server.console())
    await page.getByRole('heading', { name: 'No session' }).waitFor()
    await page.getByText('the session has ended').waitFor()
    expect(await page.getByRole('link', { name: 'map-0' }).count()).toBe(0)
    await page.reload()
    await page.getByText('the session has ended').waitFor()
  })

  test('give a page of another origin neither a session, an answer nor a frame', async () => {
    const link = await console.server.console()
    const { page } = await console.open(link)
    await page.getByRole('row', { name: /^ConfigMap/ }).waitFor()
    const { port } = new URL(link)
    const foreign = await page.context().newPage()
    // Another name of the same machine: the browser treats it as another site.
    await foreign.route('http://page.example/', (route) => route.fulfill({ contentType: 'text/html', body: '<title>page</title>' }))
    await foreign.goto('http://page.example/')
    const ask = (path: string, init: object) =>
      foreign.evaluate(
        ([url, options]) =>
          fetch(url, options).then(
            (response) => `${response.type} ${response.status}`,
            () => 'refused',
          ),
        [`http://127.0.0.1:${port}${path}`, init] as const,
      )
    expect(await ask('/console/api/api/v1/secrets', { credentials: 'include' })).toBe('refused')
    expect(await ask('/console/session', { method: 'POST', credentials: 'include', body: '{}' })).toBe('refused')
    expect(await ask('/console/session', { mode: 'no-cors', credentials: 'include' })).toBe('refused')
    const frame = `<iframe src="http://127.0.0.1:${port}/console/"></iframe>`
    await foreign.route('http://frame.example/', (route) => route.fulfill({ contentType: 'text/html', body: frame }))
    await foreign.goto('http://frame.example/')
    expect(await Promise.all(foreign.frames().map((one) => one.locator('#app').count()))).toEqual([0, 0])
  })
})
