import { aborted, type Clock, type OutgoingCall, type OutgoingCalls, sleep } from '@orch/platform'
import { matchesText } from '../request/request-match.ts'
import type { Effect } from './effects.ts'
import type { FaultRule } from './fault.ts'

interface FaultyCallsParts {
  readonly clock: Clock
  /** Called for each hit. */
  readonly onHit: (rule: FaultRule, to: string) => void
}

/** The outgoing calls of a server, with the faults of a test, in insertion order. */
export class FaultyCalls implements OutgoingCalls {
  readonly #parts: FaultyCallsParts
  /** Rules that may still hit. */
  readonly rules = new Set<FaultRule>()

  constructor(parts: FaultyCallsParts) {
    this.#parts = parts
  }

  async pass<Answer>(call: OutgoingCall<Answer>): Promise<Answer> {
    let isLost = false
    let bytesMax = Number.POSITIVE_INFINITY
    for (const rule of [...this.rules]) {
      const { effect, outgoing = '' } = rule
      if (!matchesText(outgoing, call.to) || !rule.take()) continue
      this.#parts.onHit(rule, call.to)
      if (effect.kind === 'refuse') return call.refuse(refusalOf(effect, rule.name))
      if (effect.kind === 'truncate') bytesMax = Math.min(bytesMax, effect.bytes)
      else if (effect.kind === 'loseReply' || (effect.kind === 'cut' && effect.when === 'after')) isLost = true
      else await this.#hold(effect, call.signal)
    }
    const answer = await call.send()
    if (isLost) {
      call.drop?.(answer)
      throw brokenConnection()
    }
    return bytesMax === Number.POSITIVE_INFINITY ? answer : call.truncate(answer, bytesMax)
  }

  /** Applies the effect that precedes a call. After a delay the call is made; any other effect ends it. */
  async #hold(effect: Exclude<Effect, { kind: 'refuse' | 'truncate' | 'loseReply' }>, signal: AbortSignal): Promise<void> {
    switch (effect.kind) {
      case 'delay':
        await sleep(this.#parts.clock, effect.ms, signal)
        return signal.throwIfAborted()
      case 'cut':
        throw brokenConnection()
      case 'refuseConnection':
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      case 'hang':
      case 'blackHole':
        await aborted(signal)
        throw signal.reason
    }
  }
}

function brokenConnection(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}

function refusalOf({ code, retryAfter, reason, message, causes }: Extract<Effect, { kind: 'refuse' }>, name: string) {
  const text = message ?? `the fault ${name} refuses the call`
  const details = causes.length === 0 ? {} : { details: { causes } }
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: text, reason, ...details, code }
  return { code, retryAfter, message: text, body: JSON.stringify(status) }
}
