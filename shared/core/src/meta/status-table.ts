/** The machine-readable reason of a failure. Branch on it, never on the message. */
export type StatusReason =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Expired'
  | 'Invalid'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'UnsupportedMediaType'
  | 'RequestEntityTooLarge'
  | 'TooManyRequests'
  | 'InternalError'
  | 'StorageReadError'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'Timeout'

/** A case in which a request ends with a failure: a Status with or without a reason, or plain text. */
export interface Failure {
  readonly when: string
  readonly code: number
  readonly reason: StatusReason | '' | 'plain text'
}

/** The failures caused by the request. `failed` accepts only the codes and reasons of the two tables. */
export const requestFailures = [
  {
    code: 400,
    reason: 'BadRequest',
    when: 'body, query parameter, selector, patch or `continue` token cannot be parsed; the body names another object, kind or namespace than the path, or a patch another object or namespace; strict field validation finds a field',
  },
  { code: 401, reason: 'Unauthorized', when: 'no valid credentials, and anonymous requests are off' },
  { code: 403, reason: 'Forbidden', when: 'authorization, an admission plugin, a quota or a terminating namespace forbids the request' },
  { code: 404, reason: 'NotFound', when: 'no object of this name; no resource at a path below a served group' },
  { code: 404, reason: 'plain text', when: 'any other path that is not served' },
  {
    code: 405,
    reason: 'MethodNotAllowed',
    when: 'the resource or the document does not have the verb; `Allow` lists the methods of the path',
  },
  { code: 406, reason: 'NotAcceptable', when: 'no media type in `Accept` is served' },
  { code: 409, reason: 'AlreadyExists', when: 'create of a name that is taken' },
  {
    code: 409,
    reason: 'Conflict',
    when: 'the `resourceVersion` or the UID of the request is not that of the object; another manager owns an applied field',
  },
  { code: 410, reason: 'Expired', when: 'the requested `resourceVersion` or the snapshot of a `continue` token has been compacted' },
  { code: 413, reason: 'RequestEntityTooLarge', when: 'the body, or the object with its patch, is larger than the limit' },
  { code: 415, reason: 'UnsupportedMediaType', when: 'the media type of the body, or of the patch, is not supported' },
  { code: 422, reason: 'Invalid', when: 'fields of the object break rules of its kind; the causes name each field' },
  {
    code: 422,
    reason: 'Invalid',
    when: 'a JSON, merge or strategic merge patch leaves an object of another kind or `apiVersion`, or a value of the wrong type',
  },
  {
    code: 429,
    reason: 'TooManyRequests',
    when: 'an eviction would break a disruption budget; the event rate limit is reached; storage reads its state anew',
  },
  { code: 429, reason: 'plain text', when: 'too many requests at a time; `Retry-After` says when to try again' },
] as const satisfies readonly Failure[]

/** The failures caused by the server. */
export const serverFailures = [
  { code: 500, reason: 'InternalError', when: 'an unexpected error; the log has the cause under the `Audit-Id` of the response' },
  { code: 500, reason: 'InternalError', when: 'a webhook that must answer fails or answers nonsense' },
  { code: 500, reason: 'StorageReadError', when: "objects of a list, or of a watch's initial state, cannot be read from storage" },
  { code: 500, reason: '', when: 'the stored value would be too large; a pod has several disruption budgets at its eviction' },
  { code: 500, reason: '', when: 'a kubelet cannot be reached (503 `ServiceUnavailable` for a proxy)' },
  { code: 500, reason: 'plain text', when: 'a health check fails (`/healthz`, `/livez`, `/readyz`)' },
  { code: 501, reason: '', when: 'the verb needs a node or a service that this server does not have' },
  { code: 503, reason: 'ServiceUnavailable', when: 'storage or another service is unavailable, or the server is shutting down' },
  { code: 504, reason: 'Timeout', when: 'the request took longer than its timeout; the requested `resourceVersion` is in the future' },
] as const satisfies readonly Failure[]

type ListedFailure = (typeof requestFailures)[number] | (typeof serverFailures)[number]

/** The status codes of failures. */
export type FailureCode = ListedFailure['code']

/** The reasons of a status code. */
export type ReasonOf<C extends FailureCode> = C extends FailureCode
  ? Exclude<Extract<ListedFailure, { readonly code: C }>['reason'], 'plain text'>
  : never
