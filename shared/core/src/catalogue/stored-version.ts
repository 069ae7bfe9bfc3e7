import { packages } from '../api/packages.ts'
import { packageOf, typeOf } from '../schema/resolve.ts'
import { type GroupDefinition, groupDefinitions, type ResourceDefinition, resourceDefinitions } from './definitions.ts'

/** Groups whose kind is kept as a kind of another group. */
const keptElsewhere: Readonly<Record<string, string>> = { 'events/v1.Event': 'core/v1.Event' }

/**
 * The type in which objects of a resource are kept: the newest GA version, else the newest version.
 * It does not depend on what is switched on, so that switching never changes how stored bytes are to be read.
 */
export function storedTypeOf(definition: ResourceDefinition): string {
  const elsewhere = keptElsewhere[definition.type]
  if (elsewhere !== undefined) return elsewhere
  const versions = resourceDefinitions.filter((other) => isSameKind(other, definition))
  const best = [...versions].sort((left, right) => rank(left) - rank(right))[0]
  return (best ?? definition).type
}

/** Two versions of one kind of one group. */
function isSameKind(left: ResourceDefinition, right: ResourceDefinition): boolean {
  return left.plural === right.plural && typeOf(left.type) === typeOf(right.type) && groupWord(left.type) === groupWord(right.type)
}

function groupWord(type: string): string {
  const { group, domain } = packages[packageOf(type)] ?? {}
  return domain === undefined ? `group ${group}` : `domain ${domain}`
}

/** Versions of a group are listed with the preferred one first, GA before beta before alpha. */
function rank({ type }: ResourceDefinition): number {
  const version = packages[packageOf(type)]?.version ?? ''
  return groupOf(type)?.versions.indexOf(version) ?? 0
}

function groupOf(type: string): GroupDefinition | undefined {
  const { group, domain } = packages[packageOf(type)] ?? {}
  return groupDefinitions.find((definition) => definition.group === group && definition.domain === domain)
}
