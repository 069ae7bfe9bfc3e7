import { decodeOwnJson, isJsonObject } from '@orch/core/json'
import { badRequest } from '@orch/core/meta'
import type { LoadedObject } from '@orch/gateway'
import type { StoreObjects } from '../../load/store-objects.ts'
import { object, type Route } from './route.ts'

/** `/load`: stores the objects of a dump. */
export function loadRoute(store: StoreObjects): Route {
  return {
    method: 'POST',
    path: '/load',
    doc: 'stores the objects of a body in application/x-ndjson, one a line, as they are: with uid, owners and status; ?existing=keep',
    async handle({ lines, query }) {
      if (lines === undefined) throw badRequest('the body must be objects, one a line, with the content type application/x-ndjson')
      const existing = query.get('existing') ?? 'replace'
      if (existing !== 'keep' && existing !== 'replace') throw badRequest(`existing=${existing}: must be keep or replace`)
      return object(await store(objectsOf(lines), { keepsExisting: existing === 'keep' }))
    },
  }
}

async function* objectsOf(lines: AsyncIterable<Buffer>): AsyncGenerator<LoadedObject, void, undefined> {
  let number = 0
  for await (const line of lines) yield readObject(line, ++number)
}

function readObject(line: Buffer, number: number): LoadedObject {
  const { value, hasBigIntegers } = decode(line, number)
  if (!isJsonObject(value)) throw badRequest(`line ${number}: must be an object`)
  const { apiVersion, kind, metadata } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isJsonObject(metadata))
    throw badRequest(`line ${number}: must have apiVersion, kind and metadata`)
  return { object: { ...value, apiVersion, kind, metadata }, hasBigIntegers }
}

function decode(line: Buffer, number: number): ReturnType<typeof decodeOwnJson> {
  try {
    return decodeOwnJson(line)
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`line ${number}: ${error.message}`)
    throw error
  }
}
