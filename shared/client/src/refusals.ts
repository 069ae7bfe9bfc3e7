import { StatusError, type StatusReason } from '@orch/core/meta'

/** A reason of a refusal, or a code for answers without a reason. */
type Refusal = StatusReason | number

/** True if a request was refused for one of the reasons. */
export function isRefusal(error: unknown, reasons: readonly Refusal[]): error is StatusError {
  return error instanceof StatusError && reasons.some((reason) => reason === error.reason || reason === error.code)
}

/** The request's result; undefined if it is refused for one of the reasons. */
export async function unlessRefused<T>(reasons: readonly Refusal[], request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    if (isRefusal(error, reasons)) return undefined
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
