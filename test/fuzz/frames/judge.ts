import { kindsCount } from './draw.ts'

/** The observations of a run. */
export interface Observed {
  /** The server's exit code; undefined: the server still runs. */
  readonly endedWith: number | null | undefined
  /** The error lines in the server's log. */
  readonly logged: readonly string[]
  /** The results of good commands; `hello` is the right result. */
  readonly good: readonly { readonly result: string; readonly waitedMs: number }[]
  /** CPU time in milliseconds of the longest interval between two timers of the server. */
  readonly busiestMs: number
  /** Resident megabytes after the first tenth of the frames and at the end. */
  readonly residentMb: readonly [first: number, last: number]
  /** The number of opened tunnels by kind. */
  readonly opened: Readonly<Record<string, number>>
}

const bounds = { busiestMs: 100, waitMs: 5_000, growthMb: 150 } as const

/** The faults of a run, each as a sentence. */
export function judge({ endedWith, logged, good, busiestMs, residentMb: [first, last], opened }: Observed): string[] {
  const faults = logged.map((line) => `the server has logged ${line}`)
  if (endedWith !== undefined) faults.push(`the server has ended with ${endedWith}`)
  if (good.length === 0) faults.push('no good command was answered')
  for (const { result, waitedMs } of good) {
    if (result !== 'hello\n') faults.push(`a good command has given ${JSON.stringify(result)}`)
    if (waitedMs > bounds.waitMs) faults.push(`a good command has taken ${Math.round(waitedMs)} ms`)
  }
  if (busiestMs > bounds.busiestMs) faults.push(`the loop was busy for ${Math.round(busiestMs)} ms`)
  if (last - first > bounds.growthMb) faults.push(`memory has grown from ${Math.round(first)} to ${Math.round(last)} MB`)
  const kinds = Object.values(opened).filter((count) => count > 0).length
  if (kinds < kindsCount) faults.push(`tunnels of ${kinds} kinds were opened, not of ${kindsCount}`)
  return faults
}
