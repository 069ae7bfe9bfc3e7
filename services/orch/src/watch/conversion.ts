import { type Catalogue, convert } from '@orch/core/catalogue'
import { decodeJson, printJson } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { TablePrinter } from '@orch/core/table'
import { type Convert, type Target, unconverted } from '@orch/watch'

/** What a Table of a watch shows of the objects of a resource. */
export function tableFrom(catalogue: Catalogue): (target: Target) => TablePrinter | undefined {
  return ({ group, version, resource }) => catalogue.find(group, version, resource)?.readers.table
}

/** How watch turns stored objects into the versions that clients ask for. */
export function convertFrom(catalogue: Catalogue): (target: Target) => Convert {
  return ({ group, version, resource: plural }) => {
    const resource = catalogue.find(group, version, plural)
    if (resource === undefined) return unconverted
    const { stored } = resource
    if (stored.group === group && stored.version === version) return unconverted
    return (bytes) => {
      const decoded = decodeJson(bytes)
      if (decoded.kind === 'malformed') throw new Error(`a stored ${resource.kind} is not JSON: ${decoded.message}`)
      const converted = convert(decoded.value as ApiObject, { names: catalogue.names, from: stored, to: resource })
      return Buffer.from(printJson(converted, decoded))
    }
  }
}
