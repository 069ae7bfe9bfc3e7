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

/** A case in which a request ends without a failure. */
interface Outcome {
  readonly when: string
  readonly code: string
  readonly body: string
}

/** A case in which a request ends with a failure: a Status with or without a reason, or plain text. */
interface Failure {
  readonly when: string
  readonly code: number
  readonly reason: StatusReason | '' | 'plain text'
}

/** The successful outcomes. */
const outcomes: readonly Outcome[] = [
  {
    when: 'get, list, watch, update, patch or apply of an object that exists',
    code: '200',
    body: 'the object, the list, or the stream of events',
  },
  { when: 'create; update, patch or apply that creates the object', code: '201', body: 'the object' },
  { when: 'create of an eviction, a binding or another subresource that keeps nothing', code: '201', body: 'a `Status`' },
  { when: 'delete that removes the object at once', code: '200', body: 'a `Status`, or the object where its kind returns it' },
  {
    when: 'delete of an object that remains for now: finalizers, a grace period',
    code: '200; 202 with `orphanDependents: false`',
    body: 'the object with `deletionTimestamp`',
  },
  { when: 'deletecollection', code: '200', body: 'the list of the objects, in their last states' },
  { when: 'an OpenAPI 3 document under a hash that is not its present one', code: '301', body: 'none; `Location` has the present hash' },
  { when: 'an OpenAPI document whose ETag is in `If-None-Match`', code: '304', body: 'none' },
]

/** The failures caused by the request. `failed` accepts only the codes and reasons of the two tables. */
const requestFailures = [
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
const serverFailures = [
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

/** All failures with a Status as their body. */
export const failuresWithStatus: readonly Failure[] = [...requestFailures, ...serverFailures].filter(
  ({ reason }) => reason !== 'plain text',
)

/** Prints docs/reference/status-codes.md. */
export function printStatusPage(): string {
  return [
    '# Status codes',
    '',
    'For authors of clients.',
    '',
    'Codes of responses, and their causes. Errors of resources are `Status` objects, in the format that the client accepts; clients branch on `reason`, never on the message. Errors outside resources are plain text where the table says so.',
    '',
    '## Success',
    '',
    '| Situation | Code | Body |',
    '|---|---|---|',
    ...outcomes.map(({ when, code, body }) => `| ${when} | ${code} | ${body} |`),
    '',
    'A dry run has the code of the request without it.',
    '',
    '## The request is wrong',
    '',
    ...tableOf(requestFailures),
    '',
    'An admission webhook may choose the code and the reason of its refusal: a code below 400 becomes 400, one that HTTP does not have 500.',
    '',
    '## The server cannot do it',
    '',
    ...tableOf(serverFailures),
    '',
    'A watch that has begun has code 200. A later failure is an event of type `ERROR` whose object is the `Status`, with the codes of these tables; 410 means that the client lists again.',
    '',
  ].join('\n')
}

function tableOf(failures: readonly Failure[]): string[] {
  return [
    '| Situation | Code | Reason |',
    '|---|---|---|',
    ...failures.map(({ when, code, reason }) => `| ${when} | ${code} | ${printReason(reason)} |`),
  ]
}

function printReason(reason: Failure['reason']): string {
  if (reason === '') return 'none'
  return reason === 'plain text' ? reason : `\`${reason}\``
}
