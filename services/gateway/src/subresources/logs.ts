import type { LogChunk, LogsRequest } from '@orch/core/contracts'
import {
  badRequest,
  internal,
  invalid,
  OutsideError,
  type PlainFieldError,
  readTimeText,
  refusalByCode,
  relayed,
  type StatusError,
} from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { requireType } from '@orch/core/schema'
import { isUnsimulated } from '@orch/platform'
import type { KubeletPlace } from '../kubelets/kubelet-place.ts'
import { printAddress } from '../kubelets/kubelets.ts'
import { commonHeaders, type GatewayRequest, originOf, type Query, queryBoolean, queryInteger, send } from '../request/index.ts'
import type { Target } from '../target/target.ts'
import type { SubresourceVerb } from '../verbs/verb.ts'
import type { GateParts } from '../write/draft.ts'
import { type ConnectParts, hostOf, podOnNode, requireContainer, requireObject } from './connect.ts'
import { outgoingOf, pathOfPod, printQuery, readRefusal, requireKubelet, unreached, whileOpen } from './kubelet.ts'
import { openLogSink } from './log-sink.ts'

/** The dependencies of logs. */
export type LogParts = ConnectParts & GateParts & { readonly names: Names }

/** The output of a container. An unscheduled pod has an empty log. */
export const readLog: SubresourceVerb<LogParts> = async (request, target, parts) => {
  const options = readLogOptions(request, target, parts)
  const pod = requireType('core/v1.Pod', await requireObject(request, target, parts))
  const container = requireContainer(pod, request)
  const host = hostOf(target, pod)
  if (host === undefined) {
    const { 'content-type': _none, ...headers } = commonHeaders(request, 'text/plain')
    return send(request, 204, headers, '')
  }
  const log = await logOfSimulated(request, { ...options, pod: podOnNode(pod), container }, parts)
  if (log !== undefined) return sendLog(request, log, parts)
  const kubelet = await requireKubelet(request, host, parts)
  const path = `/containerLogs/${pathOfPod(pod)}/${container}${logQuery(options, parts)}`
  return whileOpen(request, parts, async (signal) => {
    const { response, close } = await askForLog(request, { kubelet, path, signal }, parts)
    await sendLog(request, { chunks: response.body, close }, parts)
  })
}

/** Undefined if the node is not simulated. */
async function logOfSimulated(request: GatewayRequest, asked: LogsRequest, { nodes }: LogParts): Promise<SentLog | undefined> {
  if (nodes === undefined) return undefined
  const log = nodes.logs(asked, originOf(request))
  const close = () => log.close()
  const parts = log[Symbol.asyncIterator]()
  try {
    const { value: first } = await parts.next()
    return { chunks: bytesOf(first, { [Symbol.asyncIterator]: () => parts }), close }
  } catch (error) {
    close()
    if (isUnsimulated(error)) return undefined
    throw error
  }
}

async function* bytesOf(first: LogChunk | undefined, rest: AsyncIterable<LogChunk>): AsyncGenerator<Uint8Array, void, undefined> {
  if (first !== undefined) yield first.bytes
  for await (const { bytes } of rest) yield bytes
}

function logQuery({ follow, previous, timestamps, since, tailLines, limitBytes, stream }: LogOptions, { isGateOn }: LogParts): string {
  const flags = Object.entries({ follow, previous, timestamps }).flatMap(([name, isOn]) => (isOn ? [[name, 'true']] : []))
  const numbers = Object.entries({ limitBytes, tailLines }).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  const from = since?.kind === 'seconds' ? [['sinceSeconds', String(since.seconds)]] : []
  const at = since?.kind === 'time' ? [['sinceTime', new Date(since.timeMs).toISOString().replace('.000Z', 'Z')]] : []
  const streams = isGateOn('PodLogsQuerySplitStreams') ? [['stream', stream]] : []
  return printQuery([...flags, ...numbers, ...from, ...at, ...streams])
}

interface AskedLog {
  readonly kubelet: KubeletPlace
  readonly path: string
  readonly signal: AbortSignal
}

/** The kubelet's answer. Its refusal is thrown as the Status of kube-apiserver. */
async function askForLog(request: GatewayRequest, { kubelet: { node, host, port }, path, signal }: AskedLog, { kubelets }: LogParts) {
  const skipsVerification = queryBoolean(request.query, 'insecureSkipTLSVerifyBackend')
  const target = { kind: 'kubelet', node, host, port, skipsVerification } as const
  const outgoing = { ...outgoingOf(request, target, { method: 'GET', path }), headers: {} }
  const answer = await kubelets.send(outgoing, target, { signal }).catch((error: unknown) => {
    throw unreached(`Get "https://${printAddress(host, port)}${path}": `, error)
  })
  if (answer.kind === 'upgraded') {
    answer.socket.destroy()
    throw unreached('', new Error('the kubelet has changed the protocol without being asked to'))
  }
  const { response } = answer
  if (response.headers['location'] !== undefined && response.code >= 300 && response.code < 400) {
    response.destroy()
    throw unreached(`Get "https://${printAddress(host, port)}${path}": `, new Error('redirects forbidden'))
  }
  if (response.code < 200 || response.code > 206) throw refusalOfLog(response.code, await readRefusal(response), request)
  return { response, close: () => response.destroy() }
}

function refusalOfLog(code: number, text: string, { info }: GatewayRequest): StatusError {
  if (code === 400) return badRequest(text)
  if (code === 500) return new OutsideError(internal(text).status)
  const name = info.kind === 'path' ? '' : info.name
  const [reason, message] = refusalByCode(code, text)
  return new OutsideError(relayed(code, reason, `${message} ( pods/log ${name})`, { details: { name, kind: 'pods/log' } }).status)
}

interface SentLog {
  readonly chunks: AsyncIterable<Uint8Array>
  close(): void
}

/** Sends a log at the speed of the client, until it ends, the client disconnects, or the server stops. */
async function sendLog(request: GatewayRequest, { chunks, close }: SentLog, { state, names }: LogParts): Promise<void> {
  const sink = await openLogSink(request, names).catch((error: unknown) => {
    close()
    throw error
  })
  request.leave()
  request.audit?.responseStarted()
  const open = { request, finish: close, compare() {} }
  state.watches.add(open)
  sink.onClose(close)
  try {
    for await (const bytes of chunks) {
      request.sentBytes += bytes.length
      if (bytes.length > 0) await sink.write(bytes)
      if (sink.isClosed) return
    }
    sink.end()
  } catch {
    // The client can see that the log is incomplete.
    sink.destroy()
  } finally {
    state.watches.delete(open)
    close()
  }
}

/** The first level that knows the option. */
const streamSince = 32
const streams = ['All', 'Stdout', 'Stderr']

/** Options of a request for a log, as a node takes them. */
type LogOptions = Omit<LogsRequest, 'pod' | 'container'>

/** Refuses incomplete, conflicting and invalid options. */
function readLogOptions({ query }: GatewayRequest, { info }: Target, parts: GateParts): LogOptions {
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
