import type { NodesService, Stream } from '@orch/core/contracts'
import { internal, OutsideError, relayed, StatusError } from '@orch/core/meta'
import { brokenAnswer, type CallRefusal, type Clock } from '@orch/platform'
import { unreachedReason } from '@orch/platform/webhooks'
import { InjectedRefusal } from '../request/our-failure.ts'
import type { FaultyCalls } from './faulty-calls.ts'

/** The dependencies of calls to kubelets with faults. */
interface FaultyNodesParts {
  readonly calls: FaultyCalls
  readonly clock: Clock
}

/** Maximum wait for a kubelet that a fault delays. */
const heldMsMax = 30_000

/**
 * Simulated nodes, with faults of calls to their kubelets: `kubelet/node-1/logs`. Input of an open session, and metrics of all nodes, do not count as
 * calls.
 */
export function faultyNodes(nodes: NodesService, parts: FaultyNodesParts): NodesService {
  const stream = <Part>(node: string, what: string, open: () => Stream<Part>) =>
    parts.calls.rules.size === 0 ? open() : streamOf({ node, what }, open, { nodes, ...parts })
  return {
    ...nodes,
    logs: (request, context) => stream(request.pod.node, 'logs', () => nodes.logs(request, context)),
    exec: (request, context) => stream(request.pod.node, 'exec', () => nodes.exec(request, context)),
    attach: (request, context) => stream(request.pod.node, 'attach', () => nodes.attach(request, context)),
    forward: (request, context) => stream(request.pod?.node ?? '', 'forward', () => nodes.forward(request, context)),
    request(request, context) {
      const send = () => nodes.request(request, context)
      if (parts.calls.rules.size === 0) return send()
      const call = { node: request.node, what: request.path.replace(/^\/|\?.*/g, '') }
      const refuse = ({ code, body }: CallRefusal) => ({ status: code, contentType: 'application/json', body: Buffer.from(body) })
      return pass(call, { send, refuse, truncate: breakOff }, { nodes, ...parts })
    },
  }
}

function breakOff(): never {
  throw brokenAnswer()
}

/** The node of a call, and its operation: `logs`, or a path. */
interface NodeCall {
  readonly node: string
  readonly what: string
}

interface Steps<Answer> {
  send(): Promise<Answer>
  refuse(refusal: CallRefusal): Answer
  truncate(answer: Answer, bytes: number): Answer
  drop?(answer: Answer): void
}

interface PassParts extends FaultyNodesParts {
  readonly nodes: NodesService
}

/** Makes a call. Its failure is that of an unreachable node. An unsimulated node is absent here, with any faults. */
async function pass<Answer>(
  { node, what }: NodeCall,
  steps: Steps<Answer>,
  { nodes, calls, clock }: PassParts,
  ending = new AbortController(),
): Promise<Answer> {
  await nodes.request({ node, path: '/healthz' })
  const to = `kubelet/${node}/${what}`
  const timer = clock.after(heldMsMax, () => ending.abort(new Error('context deadline exceeded')))
  try {
    return await calls.pass({ to, signal: ending.signal, ...steps })
  } catch (error) {
    if (error instanceof StatusError) throw error
    throw new OutsideError(internal(`error dialing backend: ${unreachedReason(error)}`).status)
  } finally {
    timer.cancel()
  }
}

/** A stream that is opened at its first read. */
function streamOf<Part>(call: NodeCall, open: () => Stream<Part>, parts: PassParts): Stream<Part> {
  const ending = new AbortController()
  let opened: Stream<Part> | undefined
  async function* read() {
    const steps: Steps<Stream<Part>> = { send: async () => open(), refuse: refuseStream, truncate: truncateStream, drop: close }
    const stream = await pass(call, steps, parts, ending)
    opened = stream
    yield* stream
  }
  const reading = read()
  return {
    [Symbol.asyncIterator]: () => reading,
    close() {
      ending.abort(new Error('the caller has left'))
      opened?.close()
    },
  }
}

function close(stream: Stream<unknown>): void {
  stream.close()
}

function refuseStream({ code, message }: CallRefusal): never {
  throw new InjectedRefusal(relayed(code, '', message).status)
}

/** Ends after this number of bytes of output. */
function truncateStream<Part>(stream: Stream<Part>, bytes: number): Stream<Part> {
  async function* read() {
    let left = bytes
    for await (const part of stream) {
      const output = bytesOf(part)
      if (output.length < left || output.length === 0) yield part
      else if (left > 0) yield { ...part, bytes: output.subarray(0, left) }
      left -= output.length
      if (left > 0 || output.length === 0) continue
      throw new OutsideError(internal(brokenAnswer().message).status)
    }
  }
  return { [Symbol.asyncIterator]: read, close: () => stream.close() }
}

function bytesOf(part: unknown): Uint8Array {
  const { bytes } = { bytes: undefined, ...Object(part) }
  return bytes instanceof Uint8Array ? bytes : new Uint8Array()
}
