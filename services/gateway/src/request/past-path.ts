import { badRequest, parseRevision, type Revision } from '@orch/core/meta'

/** A moment of the past: at a revision, or at a time in milliseconds since 1970. */
export type PastMoment = { readonly kind: 'revision'; readonly revision: Revision } | { readonly kind: 'time'; readonly timeMs: number }

/** Below it are the states of the past: `/at/216/api/v1/pods`. */
const pastFolder = '/at/'

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** The path within a state of the past, and the text that names the state: `/at/216/api` gives `216` and `/api`. Undefined for other paths. */
export function splitPastPath(path: string): { readonly moment: string; readonly path: string } | undefined {
  if (!path.startsWith(pastFolder)) return undefined
  const end = path.indexOf('/', pastFolder.length)
  return end < 0
    ? { moment: path.slice(pastFolder.length), path: '/' }
    : { moment: path.slice(pastFolder.length, end), path: path.slice(end) }
}

/** Parses the name of a moment: a revision, or a time as in RFC 3339. Throws a 400 for others. */
export function parsePastMoment(text: string): PastMoment {
  const revision = parseRevision(text)
  if (revision !== undefined && revision > 0) return { kind: 'revision', revision }
  const timeMs = timeForm.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(timeMs)) return { kind: 'time', timeMs }
  throw badRequest(`${pastFolder}${text}: expected a revision from 1 on, or a time such as 2026-11-29T10:00:00Z, for a state of the past`)
}
