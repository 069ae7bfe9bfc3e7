import { isJsonObject } from '../../json/member.ts'
import type { Reshape } from '../../kind/reshape.ts'
import { changedAt, type Json, withItems } from './parts.ts'

/** The members of a flat request in v1beta1 that v1 has in `exactly`. */
const exactFields = [
  'deviceClassName',
  'selectors',
  'allocationMode',
  'count',
  'adminAccess',
  'tolerations',
  'capacity',
  'derivedAttributes',
]

/** Claims of v1beta1, whose requests are flat. */
export const flatClaim: Reshape = {
  toStored: (claim) => claimToFirst(claim),
  fromStored: (claim) => withRequests(claim, ['spec', 'devices'], flatRequest),
}

/** Converts a claim from v1beta1 to v1. */
export function claimToFirst<T extends Json>(claim: T): T {
  return withRequests(claim, ['spec', 'devices'], exactRequest)
}

/** Templates of v1beta1. */
export const flatClaimTemplate: Reshape = {
  toStored: (template) => claimTemplateToFirst(template),
  fromStored: (template) => withRequests(template, ['spec', 'spec', 'devices'], flatRequest),
}

/** Converts a claim template from v1beta1 to v1. */
export function claimTemplateToFirst<T extends Json>(template: T): T {
  return withRequests(template, ['spec', 'spec', 'devices'], exactRequest)
}

/** Slices of v1beta1, whose devices have their attributes in a separate struct. */
export const basicSlice: Reshape = {
  toStored: (slice) => deviceSliceToFirst(slice),
  fromStored: (slice) => changedAt(slice, ['spec'], (spec) => withItems(spec, 'devices', ({ name, ...basic }) => ({ name, basic }))),
}

/** Converts a slice from v1beta1 to v1. */
export function deviceSliceToFirst<T extends Json>(slice: T): T {
  return changedAt(slice, ['spec'], ({ nodeName, allNodes, ...spec }) => ({
    ...withItems(spec, 'devices', ({ basic, ...device }) => ({ ...device, ...(isJsonObject(basic) ? basic : {}) })),
    ...(nodeName === undefined || nodeName === '' ? {} : { nodeName }),
    ...(allNodes === true ? { allNodes } : {}),
  }))
}

/** Slices of v1alpha3, whose capacities are plain amounts. */
export const plainSlice: Reshape = {
  toStored: (slice) => plainSliceToFirst(slice),
  fromStored: (slice, names) =>
    withCapacities(basicSlice.fromStored(slice, names), (capacity) => (isJsonObject(capacity) ? capacity['value'] : capacity)),
}

/** Converts a slice from v1alpha3 to v1. */
export function plainSliceToFirst<T extends Json>(slice: T): T {
  return deviceSliceToFirst(withCapacities(slice, (value) => ({ value })))
}

/** A slice with changed capacities of its devices. */
function withCapacities<T extends Json>(slice: T, change: (capacity: unknown) => unknown): T {
  const changeAll = ({ capacity, ...basic }: Json): Json =>
    isJsonObject(capacity)
      ? { ...basic, capacity: Object.fromEntries(Object.entries(capacity).map(([name, one]) => [name, change(one)])) }
      : basic
  return changedAt(slice, ['spec'], (spec) => withItems(spec, 'devices', (device) => changedAt(device, ['basic'], changeAll)))
}

function withRequests<T extends Json>(object: T, path: readonly string[], change: (request: Json) => Json): T {
  return changedAt(object, path, (devices) => withItems(devices, 'requests', change))
}

function exactRequest(request: Json): Json {
  const exactly: Record<string, unknown> = {}
  const others: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(request)) (exactFields.includes(name) ? exactly : others)[name] = value
  const isGiven = Object.values(exactly).some((value) => value !== '' && value !== 0 && value !== null && value !== undefined)
  return isGiven ? { ...others, exactly } : others
}

function flatRequest({ exactly, ...request }: Json): Json {
  return { ...request, ...(isJsonObject(exactly) ? exactly : {}) }
}
