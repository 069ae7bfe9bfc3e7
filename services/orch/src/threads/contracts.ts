import { contract, type Service, unary, wire } from '@orch/core/contracts'
import type { MetricRows } from '@orch/platform'

const nothing = wire.message({})

/** What the first thread does for the others, beside storage, watch and admission. */
export const firstThreadContract = contract('threads.v1.First', {
  /** The metrics of the process, as they are sent. */
  metrics: unary(nothing, wire.message({ text: wire.bytes(1) }), { idempotent: true }),
  /** What is wrong with a part of the server that the first thread keeps; absent: it is well. */
  problem: unary(wire.message({ check: wire.string(1) }), wire.message({ text: wire.optional(wire.string(1)) }), { idempotent: true }),
})
export type FirstThreadService = Service<typeof firstThreadContract>

/** What the first thread wants of each other. */
export const gatewayThreadContract = contract('threads.v1.Gateway', {
  metrics: unary(nothing, wire.message({ rows: wire.json<readonly MetricRows[]>(1) }), { idempotent: true }),
  /** Ends the gateway: `/readyz` fails for so long, then its watches are ended one after the other. */
  close: unary(wire.message({ delayMs: wire.int64(1), graceMs: wire.int64(2) }), nothing),
})
export type GatewayThreadService = Service<typeof gatewayThreadContract>
