import { StatusError, type StatusReason } from '@orch/core/meta'

/** The request's result; undefined if it is refused for one of the reasons. */
export async function unlessRefused<T>(reasons: readonly StatusReason[], request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof StatusError && reasons.some((reason) => reason === error.reason)) return undefined
    throw error
  }
}

/** The request's result; undefined if the object is absent. */
export function unlessGone<T>(request: () => Promise<T>): Promise<T | undefined> {
  return unlessRefused(['NotFound'], request)
}

/** The namespace of the object is being deleted, so no retry can succeed. */
export function isOfEndingNamespace({ status }: StatusError): boolean {
  return status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true
}
