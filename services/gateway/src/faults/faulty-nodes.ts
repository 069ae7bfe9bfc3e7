import type { NodesService, Stream } from '@orch/core/contracts'
import { internal, OutsideError, relayed, StatusError } from '@orch/core/meta'
import { brokenAnswer, type CallRefusal, type Clock, type OutgoingCalls } from '@orch/platform'
import { unreachedReason } from '@orch/platform/webhooks'
import { InjectedRefusal } from '../request/our-failure.ts'

/** The dependencies of calls to kubelets under faults. */
interface FaultyNodesParts {
  readonly calls: OutgoingCalls
  readonly clock: Clock
}

/** Longest wait for a kubelet that a fault holds. */
const heldMsMax = 30_000

/** The nodes, with faults of calls to their kubelets: `kubelet/node-1/logs`. Input of an open session, and metrics of all nodes, are no calls. */
export function faultyNodes(nodes: NodesService, parts: FaultyNodesParts): NodesService {
  const stream = <Part>(node: string, what: string, open: () => Stream<Part>) => streamOf(`kubelet/${node}/${what}`, open, parts)
  return {
    ...nodes,
    logs: (request, context) => stream(request.pod.node, 'logs', () => nodes.logs(request, context)),
    exec: (request, context) => stream(request.pod.node, 'exec', () => nodes.exec(request, context)),
    attach: (request, context) => stream(request.pod.node, 'attach', () => nodes.attach(request, context)),
    forward: (request, context) => stream(request.pod.node, 'forward', () => nodes.forward(request, context)),
    request: (request, context) =>
      pass(`kubelet/${request.node}${request.path.replace(/\?.*/, '')}`, parts, {
        send: () => nodes.request(request, context),
        refuse: ({ code, body }) => ({ status: code, contentType: 'application/json', body: Buffer.from(body) }),
        truncate(): never {
          throw brokenAnswer()
        },
      }),
  }
}

interface Steps<Answer> {
  send(): Promise<Answer>
  refuse(refusal: CallRefusal): Answer
  truncate(answer: Answer, bytes: number): Answer
  drop?(answer: Answer): void
}

/** Makes a call. Its failure is that of a node which is not reached. */
async function pass<Answer>(
  to: string,
  { calls, clock }: FaultyNodesParts,
  steps: Steps<Answer>,
  ending = new AbortController(),
): Promise<Answer> {
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

/** A stream that is opened when it is read first. */
function streamOf<Part>(to: string, open: () => Stream<Part>, parts: FaultyNodesParts): Stream<Part> {
  const ending = new AbortController()
  let opened: Stream<Part> | undefined
  async function* read() {
    const steps: Steps<Stream<Part>> = { send: async () => open(), refuse: refuseStream, truncate: truncateStream, drop: close }
    const stream = await pass(to, parts, steps, ending)
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

/** Ends after so many bytes of output. */
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
