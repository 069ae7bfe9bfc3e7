import { type LabelSelector, printLabelSelector, toLabelRequirements } from '../selectors/labels.ts'
import { type Data, dataOf, listOf, textOf } from './cell.ts'

export const none = '<none>'
export const unset = '<unset>'
export const unknown = '<unknown>'

/** A map in the form `a=1,b=2`. */
export function printPairs(map: Data): string {
  const keys = Object.keys(map)
  if (keys.length === 0) return none
  return keys
    .sort()
    .map((key) => `${key}=${String(map[key])}`)
    .join(',')
}

/** A selector as a user would type it; `<none>` if it selects nothing or everything. */
export function printSelector(selector: unknown): string {
  return selectorText(selector, '<error>') || none
}

/** Like `printSelector`, except that an empty selector is an empty text. */
export function selectorText(selector: unknown, whenMalformed: string): string {
  if (typeof selector !== 'object' || selector === null) return ''
  const reading = toLabelRequirements(selector as LabelSelector)
  return reading.kind === 'selector' ? printLabelSelector(reading.requirements) : whenMalformed
}

/** ` + 2 more...` after a shortened list. */
export function moreThan(shown: number, total: number): string {
  return total > shown ? ` + ${total - shown} more...` : ''
}

/** The first items of a list, comma-separated, with the number of the others. */
export function printFirst(texts: readonly string[], shown: number): string {
  return texts.slice(0, shown).join(',') + moreThan(shown, texts.length)
}

/** Names and images of a Pod's containers, each comma-separated. */
export function containersOf(podSpec: Data): readonly [names: string, images: string] {
  const containers = listOf(podSpec, 'containers')
  return [
    containers.map((container) => textOf(container, 'name')).join(','),
    containers.map((container) => textOf(container, 'image')).join(','),
  ]
}

/** The Pod spec in a spec with a template. */
export function podSpecOf(spec: Data): Data {
  return dataOf(dataOf(spec, 'template'), 'spec')
}

/** A reference as `Kind/name`. */
export function printReference(reference: Data): string {
  return `${textOf(reference, 'kind')}/${textOf(reference, 'name')}`
}

const accessModes = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const

/** Abbreviated access modes in a fixed order. */
export function printAccessModes(modes: readonly string[]): string {
  return accessModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')
}

/** The sorted, distinct addresses of a load balancer. */
export function loadBalancerOf(status: Data): string[] {
  const addresses = listOf(dataOf(status, 'loadBalancer'), 'ingress').map((one) => textOf(one, 'ip', textOf(one, 'hostname')))
  return [...new Set(addresses.filter((address) => address !== ''))].sort()
}
