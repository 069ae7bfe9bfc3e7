import type { StorageService } from '@orch/core/contracts'
import { domainGroup, domainLabel, type Names } from '@orch/core/names'
import { type BuiltIn, parseStored } from '@orch/core/schema'
import { limits } from './limits.ts'

export type EndpointSlice = BuiltIn<'discovery/v1.EndpointSlice'>

export interface SliceNeeds {
  readonly storage: Pick<StorageService, 'list'>
  readonly names: Names
}

/** The newest slices of a Service's endpoints, at most `limits.endpointSlicesMax`. */
export async function readSlices(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { storage, names }: SliceNeeds,
): Promise<readonly EndpointSlice[]> {
  const listed = storage.list({
    scope: { resource: slicesPrefix(names), namespace },
    selection: { labels: [{ key: domainLabel(names, 'service-name'), operator: 'In', values: [name] }], fields: [] },
    read: { kind: 'latest' },
    limit: limits.endpointSlicesMax,
    start: '',
    layout: 'entries',
  })
  const slices: EndpointSlice[] = []
  for await (const part of listed) {
    if (part.kind === 'entries') for (const { value } of part.entries) slices.push(parseStored('discovery/v1.EndpointSlice', value))
  }
  return slices
}

/** The prefix of all slices in storage. */
export function slicesPrefix(names: Names): string {
  return `${domainGroup(names, 'discovery')}/endpointslices`
}

/** The number of a named port in a slice; undefined if the slice has no such port, or the port has no number. */
export function portOfSlice({ ports }: EndpointSlice, portName: string): number | undefined {
  return ports?.find(({ name = '' }) => name === portName)?.port
}

/** The endpoints of a slice that are ready: all but those with the condition `ready: false`. */
export function readyEndpoints({ endpoints }: EndpointSlice): NonNullable<EndpointSlice['endpoints']> {
  return (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false)
}
