import { type ApiObject, printApiVersion } from '@orch/core/meta'
import { type Conversion, Converter } from '@orch/platform/conversion'
import { createServiceAddresses, createWebhookCaller, noCredentials } from '@orch/platform/webhooks'
import type { RequestVersion } from '../matching/equivalents.ts'
import type { PluginNeeds } from '../plugin.ts'
import { isApiObject } from './review.ts'

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
export class ConversionWebhooks {
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
    const known = this.#made.get(object) ?? new Map<string, Promise<unknown>>()
    this.#made.set(object, known)
    const converted = known.get(apiVersion) ?? this.#call(object, { webhook: conversion, desiredApiVersion: apiVersion, context })
    known.set(apiVersion, converted)
    return converted
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
