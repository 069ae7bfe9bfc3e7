import { printJson } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { Served } from '../target/target.ts'
import type { ConversionContext, WebhookConversionParts } from './by-webhook.ts'

/** Returns the object in another version, for its owners. */
export type ConvertOwned = (object: ApiObject, to: Served) => ApiObject

/** A version of an object that is not converted yet. */
class MissingVersion extends Error {
  readonly key: string
  readonly object: ApiObject
  readonly to: Served

  constructor(key: string, object: ApiObject, to: Served) {
    super(`${to.resource.apiVersion} of an object has not been asked for yet`)
    this.key = key
    this.object = object
    this.to = to
  }
}

/**
 * Runs synchronous work that needs objects in versions that it determines itself: it is restarted with each converted version until none is missing. Few
 * versions occur among owners.
 */
export async function withOwnedVersions<T>(
  { converter }: Pick<WebhookConversionParts, 'converter'>,
  context: ConversionContext,
  work: (convert: ConvertOwned) => T | Promise<T>,
): Promise<T> {
  const known = new Map<string, ApiObject>()
  const convert: ConvertOwned = (object, to) => {
    if (isEmpty(object)) return { ...object, apiVersion: to.resource.apiVersion }
    const key = `${to.resource.apiVersion} ${printJson(object, { hasBigIntegers: true })}`
    const found = known.get(key)
    if (found === undefined) throw new MissingVersion(key, object, to)
    return found
  }
  for (;;) {
    try {
      return await work(convert)
    } catch (error) {
      if (!(error instanceof MissingVersion)) throw error
      const { key, object, to } = error
      const { conversion, apiVersion, readers } = to.resource
      if (conversion === undefined) throw error
      const wanted = { webhook: conversion, desiredApiVersion: apiVersion, objects: [object], hasBigIntegers: true, context }
      const { objects } = await converter.convert(wanted)
      known.set(key, readers.prune(objects[0] ?? object))
    }
  }
}

/** Before its creation an object cannot be converted by a webhook. */
function isEmpty({ apiVersion: _apiVersion, kind: _kind, metadata, ...rest }: Partial<ApiObject>): boolean {
  return Object.keys(rest).length === 0 && Object.keys(metadata ?? {}).length === 0
}
