import { badRequest } from '@orch/core'
import { isLongRunning, type Step } from './step.ts'

/** `?timeout=` may shorten the time that a request may take; it never lengthens it. */
export const deadline: Step = (request) => {
  if (request.query.isEmpty || isLongRunning(request)) return
  const text = request.query.get('timeout')
  if (text === undefined || text === '') return
  const timeoutMs = parseGoDurationMs(text)
  if (timeoutMs === undefined)
    throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(text)}`)
  if (timeoutMs > 0) request.deadlineMs = Math.min(request.deadlineMs, request.startedMs + timeoutMs)
}

const unitMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Milliseconds of a text such as `1m30s`. */
function parseGoDurationMs(text: string): number | undefined {
  if (text === '0') return 0
  const match = /^(-?)((?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+)$/.exec(text)
  if (match === null) return undefined
  let total = 0
  for (const [, amount, unit] of (match[2] as string).matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)/g))
    total += Number(amount) * (unitMs[unit as string] as number)
  return match[1] === '-' ? -total : total
}
