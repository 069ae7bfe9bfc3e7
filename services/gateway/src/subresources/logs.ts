import type { LogChunk, Stream } from '@orch/core/contracts'
import { requireType } from '@orch/core/schema'
import { type GatewayRequest, originOf } from '../request/request.ts'
import { commonHeaders, send } from '../request/respond.ts'
import type { GatewayState } from '../server/state.ts'
import type { SubresourceVerb } from '../verbs/verb.ts'
import type { GateParts } from '../write/draft.ts'
import { type ConnectParts, hostOf, isOfNode, podOnNode, requireContainer, requireObject, unreachable } from './connect.ts'
import { readLogOptions } from './log-options.ts'

/** The dependencies of logs. */
export type LogParts = ConnectParts & GateParts & { readonly state: Pick<GatewayState, 'watches'> }

/** The text that a container has written. A pod that no node has has written nothing. */
export const readLog: SubresourceVerb<LogParts> = async (request, target, parts) => {
  const options = readLogOptions(request, target, parts)
  const pod = requireType('core/v1.Pod', await requireObject(request, target, parts))
  const container = requireContainer(pod, request)
  const host = hostOf(target, pod)
  if (host === undefined) {
    const { 'content-type': _none, ...headers } = commonHeaders(request, 'text/plain')
    return send(request, 204, headers, '')
  }
  if (parts.nodes === undefined) throw await unreachable(request, host, parts)
  const log = parts.nodes.logs({ ...options, pod: podOnNode(pod), container }, originOf(request))
  const chunks = log[Symbol.asyncIterator]()
  try {
    const { value } = await chunks.next()
    await sendLog(request, { log, first: value?.bytes, rest: { [Symbol.asyncIterator]: () => chunks } }, parts)
  } catch (error) {
    throw isOfNode(error) ? await unreachable(request, host, parts) : error
  } finally {
    log.close()
  }
}

interface SentLog {
  readonly log: Stream<LogChunk>
  readonly first: Uint8Array | undefined
  readonly rest: AsyncIterable<LogChunk>
}

/** Sends a log as fast as the client reads, until it ends, the client goes, or the server stops. */
async function sendLog(request: GatewayRequest, { log, first, rest }: SentLog, { state }: LogParts): Promise<void> {
  const { exchange } = request
  request.code = 200
  exchange.begin(200, commonHeaders(request, 'text/plain'))
  request.leave()
  request.audit?.responseStarted()
  const close = () => log.close()
  const open = { request, finish: close, compare() {} }
  state.watches.add(open)
  exchange.onClose(close)
  const write = async (bytes: Uint8Array) => {
    request.sentBytes += bytes.length
    if (bytes.length > 0 && !exchange.write(bytes)) await exchange.drained()
  }
  try {
    if (first !== undefined) await write(first)
    for await (const { bytes } of rest) {
      await write(bytes)
      if (exchange.isClosed) return
    }
    exchange.end()
  } catch {
    // The client sees that the log is not whole.
    exchange.destroy()
  } finally {
    state.watches.delete(open)
  }
}
