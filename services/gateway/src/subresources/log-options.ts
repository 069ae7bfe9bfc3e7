import type { LogsRequest } from '@orch/core/contracts'
import { badRequest, invalid, type PlainFieldError, readTimeText } from '@orch/core/meta'
import type { GatewayRequest } from '../request/request.ts'
import { type Query, queryBoolean, queryInteger } from '../request/request-info.ts'
import type { Target } from '../target/target.ts'
import type { GateParts } from '../write/draft.ts'

/** The first level that knows the option. */
const streamSince = 32
const streams = ['All', 'Stdout', 'Stderr']

/** Options of a request for a log, as a node takes them. */
export type LogOptions = Omit<LogsRequest, 'pod' | 'container'>

/** Refuses incomplete, conflicting and invalid options. */
export function readLogOptions({ query }: GatewayRequest, { info }: Target, parts: GateParts): LogOptions {
  const sinceTime = readSinceTime(query)
  const errors: PlainFieldError[] = []
  const refuse = (field: string, value: unknown, detail: string): void => {
    errors.push({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(value)}: ${detail}` })
  }
  const forbid = (field: string, detail: string): void => {
    errors.push({ reason: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` })
  }
  const [tailLines, limitBytes, sinceSeconds] = ['tailLines', 'limitBytes', 'sinceSeconds'].map((name) => queryInteger(query, name))
  if (tailLines !== undefined && tailLines < 0) refuse('tailLines', tailLines, 'must be greater than or equal to 0')
  if (limitBytes !== undefined && limitBytes < 1) refuse('limitBytes', limitBytes, 'must be greater than 0')
  if (sinceSeconds !== undefined) {
    if (sinceTime !== undefined) forbid('', 'at most one of `sinceTime` or `sinceSeconds` may be specified')
    else if (sinceSeconds < 1) refuse('sinceSeconds', sinceSeconds, 'must be greater than 0')
  }
  const stream = parts.level < streamSince ? undefined : query.get('stream')
  if (stream !== undefined && !parts.isGateOn('PodLogsQuerySplitStreams')) forbid('stream', 'may not be specified')
  else if (stream !== undefined && !streams.includes(stream)) {
    const message = `Unsupported value: ${JSON.stringify(stream)}: supported values: ${streams.map((one) => JSON.stringify(one)).join(', ')}`
    errors.push({ reason: 'FieldValueNotSupported', field: 'stream', message })
  } else if (stream !== undefined && stream !== 'All' && tailLines !== undefined) {
    forbid('', '`tailLines` and specific `stream` are mutually exclusive for now')
  }
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, info.name, errors)
  return {
    follow: queryBoolean(query, 'follow'),
    previous: queryBoolean(query, 'previous'),
    timestamps: queryBoolean(query, 'timestamps'),
    since: sinceSeconds === undefined ? sinceTime : { kind: 'seconds', seconds: sinceSeconds },
    tailLines,
    limitBytes,
    stream: stream ?? 'All',
  }
}

/** An empty text, and `null`, are Go's zero time. */
function readSinceTime(query: Query): Extract<LogsRequest['since'], { readonly kind: 'time' }> | undefined {
  const text = query.get('sinceTime')
  if (text === undefined) return undefined
  if (text === '' || text === 'null') return { kind: 'time', timeMs: 0 }
  const reading = readTimeText(text, 'time')
  if (reading.kind === 'malformed') throw badRequest(reading.problem)
  return { kind: 'time', timeMs: reading.instant.seconds * 1000 }
}
