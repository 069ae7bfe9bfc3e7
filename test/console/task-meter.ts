import type { CDPSession, Page } from 'playwright-core'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string; readonly data?: { readonly frames?: readonly { readonly processId: number }[] } }
}

const taskName = 'RunTask'

/** Measures the tasks of a page's main thread while a function runs. */
export async function measureTasks(page: Page, work: () => Promise<void>) {
  const session = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  const traceConfig = { includedCategories: ['disabled-by-default-devtools.timeline', 'toplevel', '__metadata'], excludedCategories: ['*'] }
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig })
  await work()
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()))
  await session.send('Tracing.end')
  await complete
  await session.detach()
  const threads = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const tasks = events.filter(({ name, ph, pid, tid }) => ph === 'X' && name.endsWith(taskName) && threads.has(`${pid} ${tid}`))
  return {
    count: tasks.length,
    /** CPU time in milliseconds of the longest task. On a busy machine the task's wall time says little. */
    longestCpuMs: Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1_000,
    /** Wall time of the longest task. */
    longestMs: Math.max(0, ...tasks.map(({ dur = 0 }) => dur)) / 1_000,
    cpuMs: tasks.reduce((sum, { tdur = 0 }) => sum + tdur, 0) / 1_000,
  }
}

/** Wall time in milliseconds of a page's longest frame while a function runs. */
export async function measureFrames(page: Page, work: () => Promise<void>): Promise<number> {
  await page.evaluate(`(() => {
    globalThis.frames = { longest: 0, isOver: false }
    let last = performance.now()
    const next = (now) => {
      globalThis.frames.longest = Math.max(globalThis.frames.longest, now - last)
      last = now
      if (!globalThis.frames.isOver) requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })()`)
  await work()
  return page.evaluate<number>('globalThis.frames.isOver = true, globalThis.frames.longest')
}

/** Bytes of a page's heap after a garbage collection. */
export async function heapOf(page: Page): Promise<number> {
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}
