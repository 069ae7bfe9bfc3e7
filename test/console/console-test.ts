import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, type StartOptions, start } from 'orch'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { complaintsOf, openBrowser } from './browser.ts'

/** Starts both before the tests of a file and ends both after the tests. */
export function consoleTest(options: StartOptions, prepare: (server: RunningServer) => Promise<void> = async () => {}) {
  let server: RunningServer | undefined
  let browser: Browser | undefined
  beforeAll(async () => {
    server = await start({ console: true, control: true, profile: 'kubernetes', ...options })
    browser = await openBrowser()
    await prepare(server)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })
  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the tests have not begun')
    return value
  }
  const open = async (link: string, given: BrowserContextOptions = {}) => {
    const context = await started(browser).newContext(given)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const complaints = complaintsOf(page)
    await page.goto(link)
    return { page, complaints }
  }
  return {
    get server() {
      return started(server)
    },
    get browser() {
      return started(browser)
    },
    /** A page in a new browser that has opened a link, and the page's complaints. */
    open,
    /** Opens a place of the console as the administrator. */
    async at(place: string, given?: BrowserContextOptions) {
      const opened = await open(await started(server).console(), given)
      await opened.page.getByRole('link', { name: 'Requests' }).waitFor()
      await goTo(opened.page, place)
      return opened
    },
  }
}

/** Goes to a place of the console: `now`, `object?kind=pods&ns=x&name=a`. */
export async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = '#/${place}'`)
}

/** A ConfigMap. */
export function aMap(namespace: string, name: string, data: Record<string, string> = {}): ApiObject {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data }
  return map
}

/** Creates a namespace with ConfigMaps. */
export async function createMaps(server: RunningServer, namespace: string, count: number): Promise<void> {
  await server.client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await Promise.all(Array.from({ length: count }, (_, index) => server.client.objects.create(aMap(namespace, `map-${index}`))))
}
