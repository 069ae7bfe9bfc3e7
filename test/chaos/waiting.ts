import { sleep, systemClock } from '@orch/platform'

const waitMsMax = 60_000
const lookMs = 5

/** Waits until something is so; looks again and again. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const begunMs = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - begunMs > waitMsMax) throw new Error(`it was not so within ${waitMsMax} ms`)
    await sleep(systemClock, lookMs)
  }
}
