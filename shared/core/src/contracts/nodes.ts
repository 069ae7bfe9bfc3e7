import { contract, type Service, stream, unary } from './contract.ts'
import { bool, bytes, int64, many, message, nested, optional, type Static, string, union, variants } from './message.ts'

/** Bounds of what gateways and nodes send one another. */
export const nodeLimits = {
  /** Bytes of one chunk, either way. */
  chunkBytesMax: 1024 * 1024,
  /** Unread bytes of a session, for each way, from which on its writer waits. */
  waitingBytesMax: 1024 * 1024,
} as const

/** A Pod on a node. `uid` is the Pod's that the gateway has seen: a later one of the name is not meant. */
const podOnNode = message({ node: string(1), namespace: string(2), name: string(3), uid: string(4) })
export type PodOnNode = Static<typeof podOnNode>

const logsRequest = message({
  pod: nested(1, podOnNode),
  container: string(2),
  /** Goes on until the run has ended. */
  follow: bool(3),
  /** The run before the last restart. */
  previous: bool(4),
  /** Each line begins with its time. */
  timestamps: bool(5),
  /** Lines from then on: seconds before now by the clock of the node, or a time in milliseconds since 1970. */
  since: optional(union(6, variants({ seconds: message({ seconds: int64(1) }), time: message({ timeMs: int64(1) }) }))),
  /** Only so many lines, counted from the end. */
  tailLines: optional(int64(7)),
  /** The log ends after so many bytes, timestamps included. */
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
  /** The streams that the client has asked for. */
  stdin: bool(4),
  stdout: bool(5),
  stderr: bool(6),
  /** A terminal: both outputs are `stdout`, and its size may change. */
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

const forwardRequest = message({ pod: nested(1, podOnNode), port: int64(2) })
export type ForwardRequest = Static<typeof forwardRequest>

const sessionPart = variants({
  /** The first part. `session` names the session for `input`. */
  opened: message({ session: string(1) }),
  /** Output; the bytes from the port of a forward. */
  stdout: message({ bytes: bytes(1) }),
  stderr: message({ bytes: bytes(1) }),
  /** The last part of a command, with its exit status. A forward, and a session whose program fails, have none. */
  exit: message({ code: int64(1) }),
})
export type SessionPart = Static<typeof sessionPart>

const sessionInput = variants({
  /** Bytes for the standard input, or for the port. */
  stdin: message({ bytes: bytes(1) }),
  /** The client sends no more bytes. */
  end: message({}),
  /** New size of the terminal, in characters. */
  resize: message({ width: int64(1), height: int64(2) }),
})
export type SessionInput = Static<typeof sessionInput>

const inputRequest = message({ session: string(1), input: union(2, sessionInput) })
export type InputRequest = Static<typeof inputRequest>

/** `path` is one of the kubelet's own, with its query: `/stats/summary`, `/metrics/resource`, `/healthz`, `/pods`. */
const nodeRequest = message({ node: string(1), path: string(2) })
export type NodeRequest = Static<typeof nodeRequest>
const nodeAnswer = message({ status: int64(1), contentType: string(2), body: bytes(3) })
export type NodeAnswer = Static<typeof nodeAnswer>

/** `resource` is `nodes` or `pods` of metrics.k8s.io. An empty namespace or name is any. */
const metricsRequest = message({ resource: string(1), namespace: string(2), name: string(3) })
export type MetricsRequest = Static<typeof metricsRequest>
/** Objects as JSON. */
const metricsPart = message({ objects: many(bytes(1)) })
export type MetricsPart = Static<typeof metricsPart>

/**
 * Nodes: the ways from the gateway into Pods.
 * 1. A method that names a node which is not simulated here fails with 404 and the node in its details; a Pod that the node
 *    does not run is 404 with the Pod there.
 * 2. `logs` and sessions give their first part at once: a log an empty chunk, a session `opened`. What fails later fails the stream.
 * 3. A session is a stream of parts, and calls of `input` with its name. `input` resolves when the session has room for more; the
 *    caller sends one after the other. Parts wait for their reader. So both ways have a pace, and each a bound of its own.
 * 4. A reader that closes the stream ends the session: its program sees the end of input and its signal.
 * 5. `metrics` gives what is measured now, by namespace and name: of nodes that run, and of Pods there with a container that runs.
 */
export const nodesContract = contract(
  'orch.nodes.v1.Nodes',
  {
    logs: stream(logsRequest, logChunk, { callers: ['gateway'], idempotent: true, endless: true }),
    exec: stream(execRequest, sessionPart, { callers: ['gateway'], endless: true }),
    attach: stream(attachRequest, sessionPart, { callers: ['gateway'], endless: true }),
    forward: stream(forwardRequest, sessionPart, { callers: ['gateway'], endless: true }),
    input: unary(inputRequest, message({}), { callers: ['gateway'] }),
    request: unary(nodeRequest, nodeAnswer, { callers: ['gateway'], idempotent: true }),
    metrics: stream(metricsRequest, metricsPart, { callers: ['gateway'], idempotent: true }),
  },
  'nodes',
)
export type NodesService = Service<typeof nodesContract>
