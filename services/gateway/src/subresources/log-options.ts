import { invalid, type PlainFieldError } from '@orch/core/meta'
import type { GatewayRequest } from '../request/request.ts'
import { queryInteger } from '../request/request-info.ts'
import type { Target } from '../target/target.ts'
import type { GateParts } from '../write/draft.ts'

/** The first level that knows the option. */
const streamSince = 32
const streams = ['All', 'Stdout', 'Stderr']

/** Refuses options of a request for a log that say too little, too much, or nothing that can be. */
export function checkLogOptions({ query }: GatewayRequest, { info }: Target, parts: GateParts): void {
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
    if (query.get('sinceTime') !== undefined) forbid('', 'at most one of `sinceTime` or `sinceSeconds` may be specified')
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
}
