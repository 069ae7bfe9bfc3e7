import { StatusError, type StatusReason } from '@orch/core/meta'

/** What the request gives; undefined when it is refused for one of the reasons. */
export async function unlessRefused<T>(reasons: readonly StatusReason[], request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof StatusError && reasons.some((reason) => reason === error.reason)) return undefined
    throw error
  }
}

/** What the request gives; undefined when the object is not there. */
export function unlessGone<T>(request: () => Promise<T>): Promise<T | undefined> {
  return unlessRefused(['NotFound'], request)
}
