import { conflict } from '@orch/core/meta'
import { parseEnvelope } from '@orch/core/protobuf'
import { parseYamlBytes } from '@orch/core/yaml'
import { sleep } from '@orch/platform'
import type { Effect } from '../faults/effects.ts'
import type { FaultRule } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { FaultyExchange } from '../faults/faulty-exchange.ts'
import { withoutWork } from '../faults/without-work.ts'
import { limits } from '../limits.ts'
import { bodyFormat, CutOff, type GatewayRequest, InjectedRefusal } from '../request/index.ts'
import type { Surroundings } from '../surroundings.ts'
import type { ServedResources } from '../target/target.ts'
import { readCbor } from '../texts/read-cbor.ts'
import type { Step } from './step.ts'

/** The dependencies of injected faults. */
export interface FaultParts extends Pick<Surroundings, 'names' | 'clock'> {
  /** Undefined without faults. */
  readonly faults: Faults | undefined
  readonly served: Pick<ServedResources, 'find'>
}

/** Applies the faults of a test in insertion order, until one ends the request. */
export const injectFault: Step<FaultParts> = (request, parts) => {
  const rules = parts.faults?.rulesFor(request)
  if (rules !== undefined) return inject(request, rules, parts)
}

async function inject(request: GatewayRequest, rules: readonly FaultRule[], parts: FaultParts): Promise<void> {
  const exchange = new FaultyExchange(request.exchange)
  request.exchange = exchange
  for (const rule of rules) {
    const { body, effect } = rule
    if (body !== undefined && !body(await bodyOf(request, parts))) continue
    const hit = () => {
      if (!rule.take()) return false
      parts.faults?.note(rule, request)
      exchange.addHeader(parts.names.faultHeader, rule.name)
      return true
    }
    if (effect.kind === 'loseReply') loseReply(request, exchange, () => hit() && exchange.cut(effect.scope))
    else if (hit()) await apply(effect, { request, exchange, parts, rule })
  }
}

/** The reply is lost at the commit, before the answer is built; a write without a commit keeps its reply. */
function loseReply(request: GatewayRequest, exchange: FaultyExchange, lose: () => void): void {
  const { onCommitted } = request
  request.onCommitted = () => {
    onCommitted?.()
    if (!exchange.isClosed) lose()
  }
}

interface Hit {
  readonly request: GatewayRequest
  readonly exchange: FaultyExchange
  readonly parts: FaultParts
  readonly rule: FaultRule
}

/** Throws if the fault ends the request. */
async function apply(effect: Exclude<Effect, { kind: 'loseReply' }>, { request, exchange, parts, rule }: Hit): Promise<void> {
  switch (effect.kind) {
    case 'delay':
      // Even a timer of no time waits for a clock that a test moves.
      if (effect.ms > 0) await withoutWork(request, parts, () => untilRemoved(rule, exchange, sleep(parts.clock, effect.ms)))
      return
    case 'refuse':
      if (effect.retryAfter !== undefined) exchange.addHeader('retry-after', String(effect.retryAfter))
      throw refusalOf(effect, request)
    case 'cut':
      if (effect.when === 'after') return exchange.loseAnswer(effect.scope)
      exchange.cut(effect.scope)
      throw new CutOff()
    case 'refuseConnection':
      exchange.cut('connection')
      throw new CutOff()
    case 'truncate':
      return exchange.truncate(effect.bytes)
    case 'blackHole':
      exchange.stopReading()
      return await hang(rule, request, parts)
    case 'hang':
      return await hang(rule, request, parts)
  }
}

async function hang(rule: FaultRule, request: GatewayRequest, parts: FaultParts): Promise<never> {
  const { exchange } = request
  await withoutWork(request, parts, () => untilRemoved(rule, exchange, new Promise((resolve) => exchange.onClose(resolve))))
  exchange.destroy()
  throw new CutOff()
}

/** A part of the server has no time limits and no connection that breaks: for it the end of the fault ends the wait, too. */
async function untilRemoved(rule: FaultRule, { peer }: GatewayRequest['exchange'], wait: Promise<void>): Promise<void> {
  if (peer.kind !== 'internal') return wait
  const { promise, resolve } = Promise.withResolvers<void>()
  // A rule outlives its requests: one promise of all would keep them.
  const forget = rule.onRemoval(resolve)
  await Promise.race([wait, promise]).finally(forget)
}

function refusalOf({ code, reason, message, causes }: Extract<Effect, { kind: 'refuse' }>, { info, fault }: GatewayRequest): Error {
  const place = info.kind === 'resource' ? info : { group: '', resource: '', name: '' }
  if (code === 409 && message === undefined && causes.length === 0) return conflict(place, place.name)
  const details = {
    ...(place.name === '' ? {} : { name: place.name }),
    ...(place.group === '' ? {} : { group: place.group }),
    ...(place.resource === '' ? {} : { kind: place.resource }),
    ...(causes.length === 0 ? {} : { causes }),
  }
  const text = message ?? `the fault ${fault} refuses the request`
  return new InjectedRefusal({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: text, reason, details, code })
}

/** The body as a value; undefined without a valid one. */
async function bodyOf(request: GatewayRequest, parts: FaultParts): Promise<unknown> {
  const outcome = await request.exchange.readBody(limits.bodyBytesMax)
  if (outcome.kind !== 'body' || outcome.bytes.length === 0) return undefined
  const { contentType, info } = request
  const format = bodyFormat(request, parts.names)
  if (format === 'protobuf') {
    const reading = parseEnvelope(outcome.bytes, parts.names)
    if (reading.kind === 'malformed' || info.kind !== 'resource') return undefined
    const { kind, apiVersion, raw } = reading.envelope
    const message = parts.served.find(info.group, info.version, info.resource)?.resource.readers.protobuf?.decode(raw)
    return message === undefined || message.kind === 'malformed' ? undefined : { ...message.object, kind, apiVersion }
  }
  // A patch has a special media type; YAML includes JSON.
  const isYaml = format === 'yaml' || contentType.endsWith('yaml')
  if (isYaml) {
    const parsed = parseYamlBytes(outcome.bytes)
    return parsed.kind === 'yaml' ? parsed.value : undefined
  }
  const cbor = contentType.endsWith('cbor') ? readCbor(outcome.bytes) : undefined
  try {
    return JSON.parse(Buffer.from(cbor?.kind === 'bytes' ? cbor.bytes : outcome.bytes).toString())
  } catch {
    return undefined
  }
}
