import { contract, type Service, stream, unary } from './contract.ts'
import { bool, bytes, int64, many, message, nested, optional, type Static, string, union, variants } from './message.ts'

/** Limits of messages between gateways and nodes. */
export const nodeLimits = {
  /** Size of a chunk in either direction. */
  chunkBytesMax: 1024 * 1024,
  /** Unread bytes of a session, per direction, above which its writer waits. */
  waitingBytesMax: 1024 * 1024,
} as const

/** A Pod on a node. `uid` identifies the Pod that the gateway has read, so a later Pod of the same name does not match. */
const podOnNode = message({ node: string(1), namespace: string(2), name: string(3), uid: string(4) })
export type PodOnNode = Static<typeof podOnNode>

const logsRequest = message({
  pod: nested(1, podOnNode),
  container: string(2),
  /** Continues until the container ends. */
  follow: bool(3),
  /** The log of the container before its last restart. */
  previous: bool(4),
  /** Each line begins with its time. */
  timestamps: bool(5),
  /** The first time of the lines: seconds before now by the node's clock, or milliseconds since 1970. */
  since: optional(union(6, variants({ seconds: message({ seconds: int64(1) }), time: message({ timeMs: int64(1) }) }))),
  /** Maximum number of lines, counted from the end. */
  tailLines: optional(int64(7)),
  /** Maximum number of bytes, including timestamps. */
  limitBytes: optional(int64(8)),
  /** `All`, `Stdout` or `Stderr`. */
  stream: string(9),
})
export type LogsRequest = Static<typeof logsRequest>

/** Bytes of a log. */
const logChunk = message({ bytes: bytes(1) })
export type LogChunk = Static<typeof logChunk>

const execRequest = message({
  pod: nested(1, podOnNode),
  container: string(2),
  command: many(string(3)),
  /** The streams that the client requests. */
  stdin: bool(4),
  stdout: bool(5),
  stderr: bool(6),
  /** True for a terminal: both outputs are `stdout`, and the size can change. */
  tty: bool(7),
})
export type ExecRequest = Static<typeof execRequest>

const attachRequest = message({
  pod: nested(1, podOnNode),
  container: string(2),
  stdin: bool(3),
  stdout: bool(4),
  stderr: bool(5),
  tty: bool(6),
})
export type AttachRequest = Static<typeof attachRequest>

/** Without a Pod, the Pod at the address. A Pod without the address is refused like a Pod of another node. */
const forwardRequest = message({ pod: optional(nested(1, podOnNode)), port: int64(2), address: optional(string(3)) })
export type ForwardRequest = Static<typeof forwardRequest>

const sessionPart = variants({
  /** The first part. `session` identifies the session for `input`. */
  opened: message({ session: string(1) }),
  /** Output, or bytes from a forwarded port. */
  stdout: message({ bytes: bytes(1) }),
  stderr: message({ bytes: bytes(1) }),
  /** The last part of a command, with its exit code. A port forward, and a session whose program fails, have no exit part. */
  exit: message({ code: int64(1) }),
})
export type SessionPart = Static<typeof sessionPart>

const sessionInput = variants({
  /** Bytes for standard input, or for the forwarded port. */
  stdin: message({ bytes: bytes(1) }),
  /** The client has sent all bytes. */
  end: message({}),
  /** New size of the terminal, in characters. */
  resize: message({ width: int64(1), height: int64(2) }),
})
export type SessionInput = Static<typeof sessionInput>

const inputRequest = message({ session: string(1), input: union(2, sessionInput) })
export type InputRequest = Static<typeof inputRequest>

/** `path` is a path of the kubelet with its query: `/stats/summary`, `/metrics/resource`, `/healthz`, `/pods`. */
const nodeRequest = message({ node: string(1), path: string(2) })
export type NodeRequest = Static<typeof nodeRequest>
const nodeAnswer = message({ status: int64(1), contentType: string(2), body: bytes(3) })
export type NodeAnswer = Static<typeof nodeAnswer>

/** `resource` is `nodes` or `pods` of metrics.k8s.io. An empty namespace or name matches any. */
const metricsRequest = message({ resource: string(1), namespace: string(2), name: string(3) })
export type MetricsRequest = Static<typeof metricsRequest>
/** Objects as JSON. */
const metricsPart = message({ objects: many(bytes(1)) })
export type MetricsPart = Static<typeof metricsPart>

/**
 * Nodes: the gateway's access to Pods on nodes, and that of admission to webhooks in them.
 * 1. A method for a node that is not simulated here fails with 404 and the node in the details. If the node does not run
 *    the Pod, the 404 has the Pod in the details.
 * 2. `logs` and sessions send a first part at once: an empty chunk, or `opened`. Later errors fail the stream.
 * 3. A session is a stream of parts, together with calls of `input` with its name. `input` resolves when the session accepts more data; the
 *    caller sends one at a time. Parts wait for their reader. So both directions have flow control and a bound.
 * 4. Closing the stream ends the session: its program sees the end of input and a signal.
 * 5. `metrics` returns current measurements by namespace and name, of running nodes and of their Pods with a running container.
 */
export const nodesContract = contract(
  'orch.nodes.v1.Nodes',
  {
    logs: stream(logsRequest, logChunk, { callers: ['gateway'], idempotent: true, endless: true }),
    exec: stream(execRequest, sessionPart, { callers: ['gateway'], endless: true }),
    attach: stream(attachRequest, sessionPart, { callers: ['gateway'], endless: true }),
    forward: stream(forwardRequest, sessionPart, { callers: ['gateway', 'admission'], endless: true }),
    input: unary(inputRequest, message({}), { callers: ['gateway', 'admission'] }),
    request: unary(nodeRequest, nodeAnswer, { callers: ['gateway'], idempotent: true }),
    metrics: stream(metricsRequest, metricsPart, { callers: ['gateway'], idempotent: true }),
  },
  'nodes',
)
export type NodesService = Service<typeof nodesContract>
