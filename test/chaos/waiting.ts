import { sleep, systemClock } from '@orch/platform'

/** A minute on an idle machine. A busy machine checks less often, so there the wait is longer. */
const looksMax = 10_000
const lookMs = 5

/** Repeats a check until it holds. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; !(await isTrue()); looks += 1) {
    if (looks === looksMax) throw new Error(`it was not so at any of ${looksMax} looks`)
    await sleep(systemClock, lookMs)
  }
}
