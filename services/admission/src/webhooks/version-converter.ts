import { convert } from '@orch/core/catalogue'
import { isJsonObject, jsonEqual, printBare } from '@orch/core/json'
import { getOrMake } from '@orch/core/memo'
import { type ApiObject, internal, parseApiVersion, printApiVersion, type StatusError } from '@orch/core/meta'
import { type Conversion, Converter } from '@orch/platform/conversion'
import { createServiceAddresses, createWebhookCaller, noCredentials } from '@orch/platform/webhooks'
import type { RequestVersion } from '../matching/equivalents.ts'
import type { PluginNeeds } from '../plugin.ts'
import { isApiObject } from './review.ts'

/** Converts the objects of a request to the version of a webhook, and back. */
export type VersionConverter = ReturnType<typeof createVersionConverter>

/** A webhook's conversion of an object. */
type Completed =
  /** `isChanged` refers to the webhook's result, before defaults were set. */
  | { readonly kind: 'object'; readonly object: ApiObject; readonly isChanged: boolean }
  | { readonly kind: 'refused'; readonly error: StatusError }

export function createVersionConverter(needs: ConverterNeeds) {
  const { catalogue } = needs
  const { names } = catalogue
  const webhooks = new ConversionWebhooks(needs)
  return {
    /**
     * Converts an object to another version. Objects of subresources with their own kinds stay unchanged. Custom objects may be converted by a webhook,
     * once for each version, for any number of callers. Rejects with a StatusError if that fails.
     */
    convert(object: unknown, from: RequestVersion, to: RequestVersion, context: ConversionContext): unknown {
      if (from === to) return object
      if (from.described === undefined && to.described === undefined) {
        return from.conversion === undefined ? renamed(object, from, to) : webhooks.convert(object, { from, to, context })
      }
      if (from.described === undefined || to.described === undefined || from.described === to.described) return object
      if (!isApiObject(object) || object.apiVersion !== from.described.apiVersion || object.kind !== from.described.kind) return object
      const { stored } = from.described
      const kept = convert(object, { names, from: from.described, to: stored })
      return convert(kept, { names, from: stored, to: to.described })
    },
    /** An object that a webhook has changed, with checked types, dropped unknown fields and defaults. */
    complete(changed: unknown, before: ApiObject): Completed {
      const { kind, apiVersion } = before
      const readers = catalogue.readersOfKind({ ...(parseApiVersion(apiVersion) ?? { group: '', version: apiVersion }), kind })
      // Gateways know the schema of a custom kind: they validate and default the result.
      if (readers === undefined) return takenAsItIs(changed, before)
      const draft = readers.decode(changed, { trackUnknown: false })
      if (draft.kind === 'mismatch') return { kind: 'refused', error: internal(draft.message) }
      const other = isJsonObject(changed) ? anotherKind(changed, before) : undefined
      if (other !== undefined)
        return { kind: 'refused', error: internal(`a ${kind} of ${apiVersion} cannot become a ${other} by a webhook`) }
      const isChanged = !jsonEqual({ ...draft.object, kind, apiVersion }, before)
      readers.applyDefaults?.(draft.object, names, catalogue.isGateOn)
      // Decoded again, to restore the order of fields.
      const ordered = readers.decode(draft.object, { trackUnknown: false })
      if (ordered.kind === 'mismatch') return { kind: 'refused', error: internal(ordered.message) }
      const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = ordered.object
      const object = { kind, apiVersion, ...(metadata === undefined ? {} : { metadata }), ...rest } as ApiObject
      return { kind: 'object', object, isChanged }
    },
    close: () => webhooks.close(),
  }
}

/** A custom object in another version that differs only in `apiVersion`. */
function renamed(object: unknown, from: RequestVersion, to: RequestVersion): unknown {
  const [before, after] = [from, to].map(({ group, version }) => printApiVersion(group, version))
  return isApiObject(object) && object.apiVersion === before && after !== undefined ? { ...object, apiVersion: after } : object
}

function takenAsItIs(changed: unknown, before: ApiObject): Completed {
  const { kind, apiVersion } = before
  if (!isJsonObject(changed) || !isJsonObject(changed['metadata'])) {
    return { kind: 'refused', error: internal(`a webhook has left no ${kind} of ${apiVersion}`) }
  }
  const other = anotherKind(changed, before)
  if (other !== undefined) return { kind: 'refused', error: internal(`a ${kind} of ${apiVersion} cannot become a ${other} by a webhook`) }
  const object: ApiObject = { ...changed, kind, apiVersion, metadata: changed['metadata'] }
  return { kind: 'object', object, isChanged: !jsonEqual(object, before) }
}

/** A webhook may omit an object's kind, but not change it. */
function anotherKind(changed: Readonly<Record<string, unknown>>, { kind, apiVersion }: ApiObject): string | undefined {
  const left = { kind: changed['kind'] || kind, apiVersion: changed['apiVersion'] || apiVersion }
  return left.kind === kind && left.apiVersion === apiVersion ? undefined : `${printBare(left.kind)} of ${printBare(left.apiVersion)}`
}

/** The dependencies of calling the conversion webhooks of custom kinds. */
export type ConverterNeeds = Pick<
  PluginNeeds,
  'catalogue' | 'storage' | 'nodes' | 'clock' | 'random' | 'chance' | 'settings' | 'conversionMetrics' | 'calls'
>

/** The user for the call of a webhook, and the deadline of the call. */
export type ConversionContext = Conversion['context']

interface Asked {
  readonly from: RequestVersion
  readonly to: RequestVersion
  readonly context: ConversionContext
}

/** Converts custom objects by the webhooks of their definitions. An object is converted to a version once, for all callers. */
class ConversionWebhooks {
  readonly #needs: ConverterNeeds
  readonly #made = new WeakMap<ApiObject, Map<string, Promise<unknown>>>()
  #converter: Converter | undefined

  constructor(needs: ConverterNeeds) {
    this.#needs = needs
  }

  convert(object: unknown, { from, to, context }: Asked): unknown {
    const { conversion } = from
    const apiVersion = printApiVersion(to.group, to.version)
    // A scale has its own kind.
    if (conversion === undefined || !isApiObject(object) || object.apiVersion !== printApiVersion(from.group, from.version)) return object
    const known = getOrMake(this.#made, object, () => new Map<string, Promise<unknown>>())
    return getOrMake(known, apiVersion, () => this.#call(object, { webhook: conversion, desiredApiVersion: apiVersion, context }))
  }

  close(): void {
    this.#converter?.close()
  }

  async #call(object: ApiObject, conversion: Pick<Conversion, 'webhook' | 'desiredApiVersion' | 'context'>): Promise<unknown> {
    // Optional: without it, printing is slightly slower.
    const { objects } = await this.#open().convert({ ...conversion, objects: [object], hasBigIntegers: true })
    return objects[0]
  }

  /** Created lazily, as most servers never need it. */
  #open(): Converter {
    const { catalogue, chance, storage, nodes, clock, random, settings, conversionMetrics = uncounted, calls } = this.#needs
    const { names } = catalogue
    const places = settings.webhookPlaces
    this.#converter ??= new Converter({
      caller: createWebhookCaller({
        addresses: createServiceAddresses({ storage, nodes, names, clock, random, places }),
        credentials: noCredentials,
        allowsLinkLocal: places.allowsLinkLocal,
        clock,
        calls,
        userAgent: `${names.serverManager}-admission`,
      }),
      names,
      level: catalogue.level,
      clock,
      reviewUid: chance.stream('review uid').uuid,
      pace: inTurns,
      metrics: conversionMetrics,
      callsMax: settings.conversionCallsMax,
    })
    return this.#converter
  }
}

/** Parsing a large answer lets other work run after each step. */
const inTurns: ConstructorParameters<typeof Converter>[0]['pace'] = {
  async run(steps) {
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      await new Promise((resolve) => setImmediate(resolve))
    }
  },
}

const uncounted = { count() {} }
