import type { ConversionWebhook } from '@orch/core/catalogue'
import type { CallContext } from '@orch/core/contracts'
import { printJson } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { Converter } from '@orch/platform/conversion'
import { limits } from '../limits.ts'
import type { Pace } from '../request/pace.ts'
import type { Served } from '../target/target.ts'
import { asStored, needsWebhook, type ReadObject, readBytesOfOursInSteps, type StoredContent } from './convert.ts'

/** The dependencies of converting objects by webhooks. */
export interface WebhookConversionParts {
  readonly converter: Pick<Converter, 'convert'>
  readonly pace: Pace
}

/** The user for the call of a webhook, and the deadline of the call. */
export type ConversionContext = Pick<CallContext, 'timeoutMs' | 'traceparent'>

/**
 * Converts the stored objects to the version of `served`, to be shown as `served.converted`. One call for all, unless they are very
 * many; objects that need no conversion stay unchanged.
 */
export async function convertContents<T extends StoredContent>(
  parts: WebhookConversionParts,
  served: Served,
  contents: readonly T[],
  context: ConversionContext,
): Promise<T[]> {
  const made: T[] = []
  for (const together of inCalls(contents)) made.push(...(await convertTogether(parts, served, together, context)))
  return made
}

/** The object of stored bytes, in the version of `served`. */
export async function readConverted(
  parts: WebhookConversionParts,
  served: Served,
  content: StoredContent,
  context: ConversionContext,
): Promise<ReadObject> {
  const read = await parts.pace.run(readBytesOfOursInSteps(content.value))
  if (!needsWebhook(served, content)) return read
  const { objects, hasBigIntegers } = await toServed(parts, served, [read], context)
  return { object: objects[0] ?? read.object, hasBigIntegers }
}

/** The stored form of an object in the version of `served`. */
export async function toStoredByWebhook(
  { converter }: WebhookConversionParts,
  { resource: { stored, conversion } }: Served,
  { object, hasBigIntegers }: ReadObject,
  context: ConversionContext,
): Promise<ReadObject> {
  const converted = await converter.convert({
    webhook: required(conversion),
    desiredApiVersion: stored.apiVersion,
    objects: [object],
    hasBigIntegers,
    context,
  })
  return { object: stored.readers.renew(converted.objects[0] ?? object), hasBigIntegers: converted.hasBigIntegers }
}

/** Contents that fit into one call. */
function* inCalls<T extends StoredContent>(contents: readonly T[]): Generator<T[], void, undefined> {
  let together: T[] = []
  let bytes = 0
  for (const content of contents) {
    const isFull = together.length === limits.conversionObjectsMax || bytes + content.value.length > limits.conversionBytesMax
    if (isFull && together.length > 0) {
      yield together
      together = []
      bytes = 0
    }
    together.push(content)
    bytes += content.value.length
  }
  if (together.length > 0) yield together
}

async function convertTogether<T extends StoredContent>(
  parts: WebhookConversionParts,
  served: Served,
  contents: readonly T[],
  context: ConversionContext,
): Promise<T[]> {
  const older = contents.filter((content) => needsWebhook(served, content))
  if (older.length === 0) return [...contents]
  const read: ReadObject[] = []
  const turns = new Turns(parts.pace)
  for (const { value } of older) {
    read.push(await parts.pace.run(readBytesOfOursInSteps(value)))
    await turns.after(value)
  }
  const { objects, hasBigIntegers } = await toServed(parts, served, read, context)
  const shown = new Map<T, T>()
  for (const [index, content] of older.entries()) {
    const value = Buffer.from(printJson(objects[index], { hasBigIntegers }))
    shown.set(content, asServed(content, value))
    await turns.after(value)
  }
  return contents.map((content) => shown.get(content) ?? content)
}

/** The position of the metadata is known for the stored bytes alone. */
function asServed<T extends StoredContent>(content: T, value: Uint8Array): T {
  return { ...content, value, metadataStart: undefined, metadataEnd: undefined, fingerprint: undefined }
}

/** As in kube-apiserver: defaults of the object's own version are set before, and fields that the requested version lacks are dropped after. */
async function toServed(
  { converter }: WebhookConversionParts,
  { resource }: Served,
  read: readonly ReadObject[],
  context: ConversionContext,
): Promise<{ readonly objects: readonly ApiObject[]; readonly hasBigIntegers: boolean }> {
  const { apiVersion, readers } = resource
  const webhook = required(resource.conversion)
  const converted = await converter.convert({
    webhook,
    desiredApiVersion: apiVersion,
    objects: read.map(({ object }) => asStored(resource, object)),
    hasBigIntegers: read.some(({ hasBigIntegers }) => hasBigIntegers),
    context,
  })
  return { objects: converted.objects.map((object) => readers.prune(object)), hasBigIntegers: converted.hasBigIntegers }
}

function required(conversion: ConversionWebhook | undefined): ConversionWebhook {
  if (conversion === undefined) throw new Error('objects without a conversion webhook were to be converted by one')
  return conversion
}

/** Lets other work run after this number of bytes of examined objects. */
class Turns {
  readonly #pace: Pace
  #bytes = 0

  constructor(pace: Pace) {
    this.#pace = pace
  }

  after({ length }: Uint8Array): Promise<void> | undefined {
    this.#bytes += length
    if (this.#bytes < limits.itemsBytesAtOnce) return undefined
    this.#bytes = 0
    return this.#pace.turn()
  }
}
