import type { ExplainedStep, LoggedRequest } from '@orch/core/contracts'
import { decodeBase64 } from './text.ts'

/** The decisions about a request (docs/how-to/explain.md). */
export interface Explanation {
  readonly authentication?: { readonly method: string; readonly user: string; readonly impersonatedBy?: string }
  readonly authorization?: { readonly decision: string; readonly reason: string }
  readonly admission: readonly ExplainedStep[]
  readonly refusal?: { readonly code?: number; readonly reason?: string; readonly message?: string }
  readonly storedRevision?: string
}

/** The body of a request, if the server has stored it. */
export interface RequestBody {
  readonly contentType: string
  readonly bytes: number
  readonly isKept: boolean
  readonly hidden?: string
  readonly text?: string
  readonly base64?: string
  /** The JSON of a body in Protobuf or CBOR. */
  readonly json?: string
}

/** A logged request with its body and answer, if they are stored. */
export interface DetailedRequest extends LoggedRequest {
  readonly method: string
  readonly query: string
  readonly auditId: string
  readonly traceparent?: string
  readonly body?: RequestBody
  readonly explanation?: Explanation
}

/** Maximum characters of a path in the log; a path of this length may be incomplete. */
const pathMax = 1_000

/** Subresources that change the protocol of their connection. */
const streams = new Set(['exec', 'attach', 'portforward', 'proxy'])

/** The reason why a request cannot be sent again; '' if it can. */
export function replayProblem({ method, path, watch, subresource, body }: DetailedRequest): string {
  if (watch !== undefined) return 'a watch has no end'
  if (streams.has(subresource)) return `${subresource} needs a connection of its own`
  if (path.length >= pathMax) return 'its path is not kept whole'
  if (body !== undefined && !body.isKept) return `its body of ${body.bytes.toLocaleString('en')} bytes is not kept`
  return method === 'CONNECT' ? 'it opens a connection' : ''
}

/** Describes the effect of sending a request again, in one sentence. */
export function replayEffect({ method, verb, resource, namespace, name, path }: DetailedRequest): string {
  const target = resource === '' ? path : `${resource} ${namespace === '' ? '' : `${namespace}/`}${name}`.trim()
  switch (method) {
    case 'GET':
    case 'HEAD':
      return `It reads ${target}, and changes nothing.`
    case 'DELETE':
      return verb === 'deletecollection' ? `It deletes all of ${target} once more.` : `It deletes ${target}, if it is there again.`
    case 'POST':
      return `It creates ${target} once more, or is refused if that is there.`
    default:
      return `It changes ${target} again, to what the body says.`
  }
}

/** The bytes of a body. */
export function bytesOf({ text, base64 }: RequestBody): Uint8Array<ArrayBuffer> {
  return base64 === undefined ? new TextEncoder().encode(text ?? '') : decodeBase64(base64)
}

/** The identifier of the trace in a W3C trace context. */
export function traceIdOf(traceparent: string): string {
  return traceparent.split('-')[1] ?? ''
}
