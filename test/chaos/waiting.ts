import { sleep, systemClock } from '@orch/platform'

/** On an idle machine a minute; on a busy one that looks less often, and gets as much done between two looks, longer. */
const looksMax = 10_000
const lookMs = 5

/** Waits until something is so; looks again and again. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; !(await isTrue()); looks += 1) {
    if (looks === looksMax) throw new Error(`it was not so at any of ${looksMax} looks`)
    await sleep(systemClock, lookMs)
  }
}
