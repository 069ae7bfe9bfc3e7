import type { ApiObject } from '@orch/core/meta'
import { start, virtualClock } from 'orch'
import type { Page, Route } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { complaintsOf, hasNoBrowser, withoutBrowser } from './browser.ts'
import { aMap, consoleTest, goTo } from './console-test.ts'
import { measureTasks } from './task-meter.ts'

const markup = '<img src=x onerror="document.title = 1"><b>bold</b>'
const turned = 'a\u202eb'
const lines = (changed: string) =>
  Array.from({ length: 20_000 }, (_, index) => (index === 9 ? changed : `<b>${index}</b> a line of text`)).join('\n')
const taskMsMax = 100

/** More kinds than a page follows. */
const definitions = Array.from({ length: 60 }, (_, index): ApiObject => {
  const schema = { openAPIV3Schema: { type: 'object' } }
  const spec = {
    ...{ group: 'odd.example.com', scope: 'Namespaced', names: { plural: `k${index}s`, singular: `k${index}`, kind: `K${index}` } },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  }
  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', spec }
  return { ...definition, metadata: { name: `k${index}s.odd.example.com` } }
})

describe.skipIf(hasNoBrowser)(`the console with odd objects, addresses and servers, in Chromium${withoutBrowser}`, () => {
  const console = consoleTest({}, async ({ client }) => {
    await client.objects.create(aMap('default', 'odd', { markup, turned, constructor: 'x' }))
    await client.objects.create(aMap('default', 'long', { value: 'x'.repeat(900_000) }))
    await client.objects.create(aMap('default', 'lines', { value: lines('before') }))
    const map = { apiVersion: 'v1', kind: 'ConfigMap', name: 'lines', namespace: 'default' }
    await client.objects.patch(map, { data: { value: lines('after') } }, { type: 'merge' })
  })
  const yaml = (page: Page) => page.getByRole('region', { name: 'The object as YAML' })

  test('shows markup in values as text, and escapes characters that reverse text', async () => {
    const { page, complaints } = await console.at('object?kind=configmaps&ns=default&name=odd')
    await yaml(page).getByText('a\\u202eb').waitFor()
    await yaml(page).getByText('<b>bold</b>').waitFor()
    expect([await page.locator('main img').count(), await page.title()]).toEqual([0, 'Object · orch console'])
    expect(complaints).toEqual([])
  })

  test('shows and compares values of 900 KB and of 20,000 lines without a task of 100 ms of CPU', async () => {
    const { page, complaints } = await console.at('now')
    const tasks = await measureTasks(page, async () => {
      await goTo(page, 'object?kind=configmaps&ns=default&name=long')
      await yaml(page).getByText('more characters').waitFor()
      await goTo(page, 'object?kind=configmaps&ns=default&name=lines')
      await page.getByRole('button', { name: /^\d+$/ }).first().click()
      const difference = page.getByRole('region', { name: 'Difference of two versions' })
      await difference.getByText('+ after').waitFor()
      expect(await difference.locator('pre').count()).toBe(8)
      expect(await yaml(page).getByRole('row').count()).toBeLessThan(200)
    })
    expect(tasks.longestCpuMs).toBeLessThan(taskMsMax)
    expect(complaints).toEqual([])
  })

  test.each([
    ['constructor', 'There is no page at this address.'],
    ['toString?x', 'There is no page at this address.'],
    ['objects?kind=__proto__', 'The server has no such kind.'],
    ['object?kind=pods&ns=..&name=..', 'no name consists of dots alone'],
    ['now?at=abc', 'abc'],
    ['timeline?lanes=__proto__', 'Timeline'],
  ])('answers the address %s with a sentence, and opens the next page', async (place, text) => {
    const { page, complaints } = await console.at(place)
    await page.locator('main').getByText(text).first().waitFor()
    await goTo(page, 'objects?kind=configmaps&ns=default')
    await page.getByRole('link', { name: 'odd' }).waitFor()
    // For one refused moment, the page and its slider send one request each.
    expect(complaints.filter((complaint) => !complaint.includes('400')).concat(complaints.slice(2))).toEqual([])
  })

  test('watches the kinds with the most objects if a server has more kinds than a stream has watches, with a note', async () => {
    await Promise.all(definitions.map((definition) => console.server.client.objects.create(definition)))
    const { page, complaints } = await console.at('trace')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await goTo(page, 'now')
    await page.getByText(/^\d+ kinds are not live: there are too many.$/).waitFor()
    // One request counts all stored kinds; only the few computed kinds are listed.
    expect(asked.filter((url) => url.endsWith('/orch/v1/objects')).length).toBe(1)
    expect(asked.filter((url) => url.includes('?limit=250')).length).toBeLessThan(10)
    const count = page
      .getByRole('row', { name: /^ConfigMap/ })
      .getByRole('cell')
      .nth(1)
    const before = Number(await count.textContent())
    await console.server.client.objects.create(aMap('default', 'late'))
    await expect.poll(() => count.textContent()).toBe(String(before + 1))
    expect(complaints).toEqual([])
  })

  test('reports that a moment is no longer retained, and offers the oldest retained moment', async () => {
    const clock = virtualClock()
    const other = await start({ console: true, control: true, history: '1m', clock })
    onTestFinished(() => other.stop())
    await other.client.objects.create(aMap('default', 'old'))
    await clock.advance('5m')
    for (const name of ['new', 'newer']) await other.client.objects.create(aMap('default', name))
    const { page } = await console.open(await other.console())
    await page.getByRole('row', { name: /^Namespace/ }).waitFor()
    await goTo(page, 'objects?kind=configmaps&ns=default&at=2')
    await page.getByText('The state at revision 2 is not kept any more.').waitFor()
    await page.getByRole('button', { name: /^Show revision \d+, the oldest that is kept$/ }).click()
    await page.getByRole('link', { name: 'old' }).waitFor()
    expect(await page.getByRole('link', { name: 'newer' }).count()).toBe(0)
  })

  test('shows the newest of many events about an object, later events as they come, and no deleted one', async () => {
    const { objects } = console.server.client
    const { metadata } = await objects.create(aMap('default', 'eventful'))
    const record = (number: number) => {
      const name = `eventful.${String(number).padStart(4, '0')}`
      const involvedObject = { apiVersion: 'v1', kind: 'ConfigMap', name: 'eventful', namespace: 'default', uid: metadata.uid }
      const lastTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString().replace('.000', '')
      const event = { apiVersion: 'v1', kind: 'Event', involvedObject, reason: 'Counted', message: `event ${number}`, lastTimestamp }
      return objects.create<ApiObject>({ ...event, metadata: { name, namespace: 'default' } })
    }
    await Promise.all(Array.from({ length: 600 }, (_, number) => record(number)))
    const { page, complaints } = await console.at('object?kind=configmaps&ns=default&name=eventful')
    await page.getByText('event 599').waitFor()
    expect(await page.getByText(/Counted event \d+/).count()).toBe(100)
    await record(600)
    await page.getByText('event 600').waitFor()
    // The event is deleted while the page has no stream, and its next watch of events begins too late.
    const deletes = async (route: Route) => {
      await objects.delete({ apiVersion: 'v1', kind: 'Event', namespace: 'default', name: 'eventful.0600' })
      const watches = Object.entries<{ path: string }>(route.request().postDataJSON().watches)
      const ends = watches.filter(([, { path }]) => path.includes('/events?')).map(([watch]) => JSON.stringify({ watch, end: 410 }))
      await route.fulfill({ body: `${ends.join('\n')}\n` })
    }
    await page.route('**/console/watches', deletes, { times: 1 })
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await page.getByText('event 600').waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  test('opens more tabs than a browser opens connections, since a hidden tab holds none', async () => {
    const { page, complaints } = await console.at('requests?filter=configmaps+odd')
    const turn = (tab: Page, isHidden: boolean) =>
      tab.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    await turn(page, true)
    for (let tab = 0; tab < 7; tab++) {
      const other = await page.context().newPage()
      await other.goto(page.url())
      await other
        .getByRole('row', { name: /configmaps default\/odd/ })
        .first()
        .waitFor()
      await turn(other, true)
    }
    await console.server.client.objects.create(aMap('default', 'odd-later'))
    expect(await page.getByText('default/odd-later').count()).toBe(0)
    await turn(page, false)
    await page.getByRole('row', { name: /configmaps default\/odd-later/ }).waitFor()
    expect(complaints).toEqual([])
  })

  test('completes a page that was opened while the server did not answer', async () => {
    const { page } = await console.at('now')
    const places = [
      ['objects?kind=configmaps&ns=default', page.getByRole('link', { name: 'odd', exact: true })],
      ['now', page.getByRole('row', { name: /^ConfigMap/ })],
    ] as const
    for (const [place, shown] of places) {
      await page.context().setOffline(true)
      await goTo(page, place)
      await page.getByText('The server does not answer.').waitFor()
      expect(await shown.count()).toBe(0)
      await page.context().setOffline(false)
      await shown.waitFor()
    }
  })

  test('keeps separate sessions of two servers in one browser, and reports a server that is gone', async () => {
    const other = await start({ console: true, control: true, clock: virtualClock({ start: new Date('1999-12-31T23:59:59Z') }) })
    let isOver = false
    onTestFinished(() => (isOver ? undefined : other.stop()))
    const { page } = await console.at('now')
    const second = await page.context().newPage()
    const complaints = complaintsOf(second)
    await second.goto(await other.console())
    await second.getByRole('row', { name: /^Namespace/ }).waitFor()
    for (const one of [page, second]) {
      await one.reload()
      await one.getByRole('row', { name: /^Namespace/ }).waitFor()
    }
    expect(complaints).toEqual([])
    await other.stop()
    isOver = true
    await second.getByText('The server does not answer.').waitFor()
    await second.getByRole('row', { name: /^Namespace/ }).waitFor()
    await goTo(page, 'objects?kind=configmaps&ns=default')
    await page.getByRole('link', { name: 'odd', exact: true }).waitFor()
  })
})
