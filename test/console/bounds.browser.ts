import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { aFolder } from '@orch/testkit/folder'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { traceCommand } from '../../services/orch/src/trace/show-trace.ts'
import { complaintsOf, hasNoBrowser, openBrowser, withoutBrowser } from './browser.ts'
import type { BusyServerWork, ToBusyServer } from './busy-server.ts'
import { goTo } from './console-test.ts'
import { heapOf, measureFrames, measureTasks } from './task-meter.ts'

/** The sum of seconds of all pages. */
const seconds = Number(process.env['ORCH_CONSOLE_SECONDS'] ?? 30)
/** On an idle machine the test measures frames by wall time, and changes must arrive at full rate. */
const isQuiet = process.env['ORCH_CONSOLE_QUIET'] === '1'
const changesPerSecondMin = 950
const msMax = 100
const heapBytesMax = 150 * 1024 * 1024

const places = [
  'now',
  'objects?kind=configmaps',
  'objects?kind=configmaps&filter=map-99',
  'object?kind=configmaps&ns=n1&name=map-7',
  'timeline',
  'timeline?lanes=clients&axis=time',
  'timeline?at=10000',
  'requests',
  'requests?who=all',
  'scheduling',
  'access',
  'weather',
]

/** The work of the server in some time, with all that the page asks for. */
interface ServerFigures {
  readonly changes: number
  readonly ms: number
  readonly serverCpuMs: number
}

/** The figures of a page: the work of the server in all visits, and the worst figures of a visit. */
interface Figures extends ServerFigures {
  readonly perSecondMin: number
  readonly cpuMs: number
  readonly frameMs: number
  readonly heapBytes: number
}

describe.skipIf(hasNoBrowser)(`the console with 10,000 objects and 1,000 changes a second${withoutBrowser}`, () => {
  let server: ChildProcess
  let browser: Browser

  beforeAll(async () => {
    server = fork(new URL('./busy-server.ts', import.meta.url), { execArgv: ['--conditions=source'] })
    const [ready] = await Promise.race([once(server, 'message'), once(server, 'exit')])
    if (ready !== 'ready') throw new Error(`the server ended with ${ready}`)
    browser = await openBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    server?.disconnect()
  })

  async function ask(message: ToBusyServer): Promise<unknown> {
    server.send(message)
    const [answer] = await once(server, 'message')
    return answer
  }

  async function measureServer(work: () => Promise<void>): Promise<ServerFigures> {
    const [before, startedMs] = [(await ask({ kind: 'work' })) as BusyServerWork, performance.now()]
    await work()
    const [after, ms] = [(await ask({ kind: 'work' })) as BusyServerWork, performance.now() - startedMs]
    return { changes: after.changes - before.changes, ms, serverCpuMs: after.cpuMs - before.cpuMs }
  }

  async function aPage() {
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const complaints = complaintsOf(page)
    await page.goto(String(await ask({ kind: 'link' })))
    await page.getByRole('link', { name: 'Requests' }).waitFor()
    return { page, complaints }
  }

  const title = isQuiet ? `no frame takes ${msMax} ms` : `no page has a task of ${msMax} ms of CPU`
  test(`${title}, and no page holds 150 MB, in ${seconds} s`, { timeout: (seconds + 120) * 1_000 }, async () => {
    const visitMs = (seconds * 1_000) / places.length / Math.max(1, seconds / 60)
    const withoutPage = await measureServer(() => sleep(visitMs))
    const { page, complaints } = await aPage()
    const figures = new Map<string, Figures>()
    const endsMs = performance.now() + seconds * 1_000
    for (let round = 0; performance.now() < endsMs || round < places.length; round++) {
      const place = places[round % places.length] ?? ''
      let [cpuMs, frameMs] = [0, 0]
      const visit = async () => {
        await goTo(page, place)
        await sleep(visitMs)
      }
      const visited = await measureServer(async () => {
        // Tracing records each task, so the test measures the wall time of frames without tracing.
        if (isQuiet) frameMs = await measureFrames(page, visit)
        else cpuMs = (await measureTasks(page, visit)).longestCpuMs
      })
      const last = figures.get(place)
      figures.set(place, {
        perSecondMin: Math.min(last?.perSecondMin ?? Number.POSITIVE_INFINITY, perSecondOf(visited)),
        cpuMs: Math.max(last?.cpuMs ?? 0, cpuMs),
        frameMs: Math.max(last?.frameMs ?? 0, frameMs),
        changes: (last?.changes ?? 0) + visited.changes,
        ms: (last?.ms ?? 0) + visited.ms,
        serverCpuMs: (last?.serverCpuMs ?? 0) + visited.serverCpuMs,
        heapBytes: Math.max(last?.heapBytes ?? 0, await heapOf(page)),
      })
    }
    process.stdout.write(`without a page: ${printServer(withoutPage)}\n`)
    process.stdout.write(`${[...figures].map(([place, one]) => `${place}: ${print(one)}`).join('\n')}\n`)
    const all = [...figures].map(([place, one]) => ({ place, ...one }))
    expect(all.filter(({ cpuMs, frameMs }) => Math.max(cpuMs, frameMs) >= msMax)).toEqual([])
    expect(all.filter(({ heapBytes }) => heapBytes >= heapBytesMax)).toEqual([])
    expect(all.filter(({ perSecondMin }) => isQuiet && perSecondMin < changesPerSecondMin)).toEqual([])
    expect(complaints).toEqual([])
  })

  test(`opens a trace of as many objects without a task of ${msMax} ms of CPU, from a disk too`, { timeout: 180_000 }, async () => {
    const folder = aFolder()
    const [file, html] = [join(folder, 'a.trace.gz'), join(folder, 'a.html')]
    await ask({ kind: 'trace', path: file })
    const { page } = await aPage()
    await goTo(page, 'trace')
    const longestCpuMs = async (open: () => Promise<unknown>) => {
      const tasks = await measureTasks(page, async () => {
        await open()
        await page.getByRole('heading', { name: 'large' }).waitFor({ timeout: 120_000 })
        await lastFrame(page)
      })
      return tasks.longestCpuMs
    }
    const chosen = await longestCpuMs(() => page.getByLabel('The file that a failed test has left').setInputFiles(file))
    const terminal = { arguments: [], env: {}, workingFolder: folder, out: () => {}, error: () => {} }
    expect(await traceCommand(terminal, ['show', file, '--html', html])).toBe(0)
    const embedded = await longestCpuMs(() => page.goto(pathToFileURL(html).href))
    process.stdout.write(`trace: longest task ${chosen.toFixed(0)} ms of CPU, from a disk ${embedded.toFixed(0)} ms\n`)
    expect(Math.max(chosen, embedded)).toBeLessThan(msMax)
  })
})

function print({ perSecondMin, cpuMs, frameMs, heapBytes, ...server }: Figures): string {
  const longest = isQuiet ? `longest frame ${frameMs.toFixed(0)} ms` : `longest task ${cpuMs.toFixed(0)} ms of CPU`
  return `${longest}, ${printServer(server)}, ${perSecondMin.toFixed(0)} changes a second in the slowest visit, heap ${(heapBytes / 1024 / 1024).toFixed(1)} MB`
}

function printServer(figures: ServerFigures): string {
  const { changes, serverCpuMs } = figures
  return `${perSecondOf(figures).toFixed(0)} changes a second, ${(serverCpuMs / changes).toFixed(2)} ms of CPU of the server for each`
}

function perSecondOf({ changes, ms }: ServerFigures): number {
  return (changes * 1_000) / ms
}

async function lastFrame(page: Page): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
}
