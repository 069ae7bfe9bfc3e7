import type { ConversionWebhook } from '@orch/core/catalogue'
import type { CallContext } from '@orch/core/contracts'
import {
  type ConvertedObject,
  createConversionRequest,
  objectsToConvert,
  readConversionResponse,
  takeConverted,
} from '@orch/core/conversion'
import { decodeJsonInSteps, isJsonObject, printJson } from '@orch/core/json'
import { type ApiObject, failed, OutsideError, parseApiVersion } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import type { Steps } from '@orch/core/steps'
import type { Clock, Timer } from '../clock.ts'
import { readTarget, type WebhookCaller } from '../webhooks/index.ts'
import type { ConversionFailureKind, ConversionMetrics } from './conversion-metrics.ts'

/** Maximum time for a conversion, including the wait for other calls. */
export const conversionMsMax = 30_000
/** Maximum number of parallel calls for one definition; further calls wait. */
export const conversionsAtOnceMax = 64

/** The dependencies of calling conversion webhooks. */
export interface ConverterNeeds {
  readonly caller: WebhookCaller
  readonly names: Names
  /** The minor version of the release whose message texts are used. */
  readonly level: number
  readonly clock: Clock
  /** Runs the steps of reading a large answer. */
  readonly pace: { run<T>(steps: Steps<T>): Promise<T> }
  readonly metrics: ConversionMetrics
  readonly reviewUid: () => string
  /** Maximum number of parallel calls for one definition. Default: `conversionsAtOnceMax`. */
  readonly callsMax?: number
}

/** Objects to convert to another version. */
export interface Conversion {
  readonly webhook: Omit<ConversionWebhook, 'readersOf'>
  readonly desiredApiVersion: string
  /** Objects that already have that version are unchanged. */
  readonly objects: readonly ApiObject[]
  readonly hasBigIntegers: boolean
  readonly context: Pick<CallContext, 'timeoutMs' | 'traceparent'>
}

/** The converted objects, in the same order. */
export interface Converted {
  readonly objects: readonly ApiObject[]
  readonly hasBigIntegers: boolean
}

/** A failed conversion call; the message is worded as in kube-apiserver. */
export class ConversionError extends OutsideError {
  readonly failure: ConversionFailureKind

  constructor(failure: ConversionFailureKind, message: string, definition: string) {
    super(failed(500, '', message).status, `conversion webhook of ${definition}`)
    this.failure = failure
  }
}

/** Asks the webhooks of definitions to convert objects. Calls are not retried; the number of parallel calls per definition is bounded. */
export class Converter {
  readonly #needs: ConverterNeeds
  readonly #callsMax: number
  readonly #bound: CallBound

  constructor(needs: ConverterNeeds) {
    this.#needs = needs
    this.#callsMax = needs.callsMax ?? conversionsAtOnceMax
    this.#bound = new CallBound(this.#callsMax, needs.clock)
  }

  /** Converts objects of one kind in one call. Throws a Status if the webhook fails. */
  async convert(conversion: Conversion): Promise<Converted> {
    const { objects, desiredApiVersion, hasBigIntegers, webhook } = conversion
    const sent = objectsToConvert(objects, desiredApiVersion)
    const [first] = sent
    if (first === undefined) return { objects, hasBigIntegers }
    const { clock, metrics } = this.#needs
    const startedMs = clock.monotonic()
    const counted = {
      definition: webhook.definition,
      fromVersion: versionOf(first.apiVersion),
      toVersion: versionOf(desiredApiVersion),
    }
    const count = (failure?: ConversionFailureKind) => metrics.count(counted, clock.monotonic() - startedMs, failure)
    try {
      const converted = await this.#call(conversion, sent, `${first.apiVersion}, Kind=${first.kind}`)
      count()
      return converted
    } catch (error) {
      count(error instanceof ConversionError ? error.failure : 'conversion_webhook_call_failure')
      throw error
    }
  }

  close(): void {
    this.#needs.caller.close()
  }

  async #call(conversion: Conversion, sent: readonly ConvertedObject[], asked: string): Promise<Converted> {
    const { webhook, desiredApiVersion, objects, hasBigIntegers } = conversion
    const { names, level } = this.#needs
    const fail = (failure: ConversionFailureKind, why: string) =>
      new ConversionError(failure, `conversion webhook for ${asked} failed: ${why}`, webhook.definition)
    const question = { versions: webhook.reviewVersions, uid: this.#needs.reviewUid(), desiredApiVersion, objects: sent }
    const request = attempt(
      () => createConversionRequest(question, names),
      (why) => fail('conversion_webhook_call_failure', why),
    )
    const answer = await this.#post(conversion, printJson(request.review, { hasBigIntegers }), (why) =>
      fail('conversion_webhook_call_failure', why),
    )
    const malformed = (why: string) => fail('conversion_webhook_malformed_response_failure', why)
    const decoded = await this.#needs.pace.run(decodeJsonInSteps(answer))
    if (decoded.kind === 'malformed') throw malformed(`the answer is not JSON: ${decoded.message}`)
    const given = attempt(() => readConversionResponse(decoded.value, request, names), malformed)
    const failure =
      given.length === sent.length ? 'conversion_webhook_invalid_converted_object_failure' : 'conversion_webhook_partial_response_failure'
    const taken = attempt(
      () => takeConverted({ asked, desiredApiVersion, objects, level }, given),
      (message) => new ConversionError(failure, message, webhook.definition),
    )
    return { objects: taken.map(asApiObject), hasBigIntegers: hasBigIntegers || decoded.hasBigIntegers }
  }

  /** Sends the call; waiting for other calls counts against its time limit. */
  async #post({ webhook, context }: Conversion, body: string, fail: (why: string) => Error): Promise<string> {
    const { caller, clock } = this.#needs
    const endsMs = clock.monotonic() + Math.min(context.timeoutMs ?? conversionMsMax, conversionMsMax)
    const end = await this.#bound.take(webhook.definition, endsMs - clock.monotonic())
    if (end === undefined) throw fail(`${this.#callsMax} calls of the webhook are pending, and none ended in time`)
    try {
      const answer = await caller.call({
        webhook: readTarget(webhook.clientConfig),
        to: `conversion/${webhook.definition}`,
        body,
        timeoutMs: Math.max(1, endsMs - clock.monotonic()),
        signal: undefined,
        traceparent: context.traceparent,
      })
      if (answer.kind === 'failed') throw fail(answer.message)
      return answer.text
    } finally {
      end()
    }
  }
}

/** The result of a function; if it throws, the error's message is passed to `refuse`. */
function attempt<T>(work: () => T, refuse: (message: string) => Error): T {
  try {
    return work()
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error))
  }
}

function versionOf(apiVersion: string): string {
  return parseApiVersion(apiVersion)?.version ?? apiVersion
}

function asApiObject({ metadata, ...object }: ConvertedObject): ApiObject {
  return { ...object, metadata: isJsonObject(metadata) ? metadata : {} }
}

interface Waiter {
  readonly begin: () => void
  readonly timer: Timer
}

interface Place {
  running: number
  readonly waiting: Waiter[]
}

/** Bounds the calls in progress per name. Further calls wait in the order of their arrival. */
export class CallBound {
  readonly #max: number
  readonly #clock: Clock
  readonly #places = new Map<string, Place>()

  constructor(max: number, clock: Clock) {
    this.#max = max
    this.#clock = clock
  }

  /** Resolves when the call may begin, with a function to call at its end; undefined after `waitMs`. */
  take(name: string, waitMs: number): Promise<(() => void) | undefined> {
    const place = this.#places.get(name) ?? { running: 0, waiting: [] }
    this.#places.set(name, place)
    const end = () => this.#end(name, place)
    if (place.running < this.#max) {
      place.running += 1
      return Promise.resolve(end)
    }
    return new Promise((resolve) => {
      const waiter: Waiter = {
        begin: () => resolve(end),
        timer: this.#clock.after(waitMs, () => {
          place.waiting.splice(place.waiting.indexOf(waiter), 1)
          resolve(undefined)
        }),
      }
      place.waiting.push(waiter)
    })
  }

  #end(name: string, place: Place): void {
    const next = place.waiting.shift()
    if (next !== undefined) {
      next.timer.cancel()
      next.begin()
      return
    }
    place.running -= 1
    if (place.running === 0) this.#places.delete(name)
  }
}
