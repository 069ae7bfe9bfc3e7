import type { DrawnRequest } from './requests.ts'

/** The result of a request. */
export interface Answer {
  readonly status: number
  /** The beginning of the body. */
  readonly text: string
}

/** The reason why a 5xx is allowed; undefined: it is a fault. */
export type Excuse = 'a version of the future' | 'an object too large for the store' | 'no node or pod to reach'

/** Checks that the server may give this answer to a client's mistake. */
export function judge(
  { target }: DrawnRequest,
  { status, text }: Answer,
): { kind: 'fine' } | { kind: 'excused'; excuse: Excuse } | { kind: 'fault' } {
  if (status >= 200 && status < 500) return { kind: 'fine' }
  const excuse = excuseOf(target, status, text)
  return excuse === undefined ? { kind: 'fault' } : { kind: 'excused', excuse }
}

function excuseOf(target: string, status: number, text: string): Excuse | undefined {
  if (status === 504 && text.includes('Too large resource version')) return 'a version of the future'
  if (status === 500 && text.includes('request is too large')) return 'an object too large for the store'
  const reaches = /\/(?:pods|services|nodes)\/[^/]+\/(?:proxy|exec|attach|portforward|log)(?:[/?]|$)/.test(target)
  return reaches && [500, 501, 502, 503].includes(status) ? 'no node or pod to reach' : undefined
}
