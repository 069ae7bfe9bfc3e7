import { badRequest, durationToMs, parseDuration } from '@orch/core/meta'
import type { Step } from './step.ts'

/** `?timeout=` may shorten the time that a request may take; it never lengthens it. */
export const deadline: Step<unknown> = (request) => {
  if (request.query.isEmpty || request.isLongRunning) return
  const text = request.query.get('timeout')
  if (text === undefined || text === '') return
  const duration = parseDuration(text)
  if (duration === undefined)
    throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(text)}`)
  const timeoutMs = durationToMs(duration)
  if (timeoutMs > 0) request.deadlineMs = Math.min(request.deadlineMs, request.startedMs + timeoutMs)
}
