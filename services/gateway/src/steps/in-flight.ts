import { limits } from '../limits.ts'
import { PlainRefusal } from '../respond.ts'
import { isLongRunning, type Step } from './step.ts'

const writingMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Bounds how much is done at once. A full server answers 429; administrators are let through, so that they can help. */
export const inFlight: Step = (request, { state }) => {
  if (isLongRunning(request)) return
  const isWrite = writingMethods.has(request.method)
  const isFull = isWrite ? state.writesInFlight >= limits.writesInFlightMax : state.readsInFlight >= limits.readsInFlightMax
  if (isFull && !request.user.groups.includes('system:masters')) {
    throw new PlainRefusal(429, 'Too many requests, please try again later.', { 'retry-after': String(limits.retryAfterSeconds) })
  }
  if (isWrite) state.writesInFlight += 1
  else state.readsInFlight += 1
  request.onFinish(() => {
    if (isWrite) state.writesInFlight -= 1
    else state.readsInFlight -= 1
  })
}
