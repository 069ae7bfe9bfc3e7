import type { ApiObject } from '@orch/core/meta'
import type { KindRules } from './kind-rules.ts'

interface Version {
  readonly name?: string
  readonly storage?: boolean
}

/** The versions in which objects may be stored are written down; only a client that has converted them all takes one out. */
export const resourceDefinitionStrategy: KindRules = {
  warning: 'custom resources are not served by this server: the definition has no effect',
  prepareCreate: addStoredVersions,
  completeUpdate: addStoredVersions,
}

function addStoredVersions(object: ApiObject): void {
  const { versions } = (object.spec ?? {}) as { readonly versions?: readonly Version[] | null }
  const status = (object.status ?? {}) as { readonly storedVersions?: readonly string[] | null }
  const known = status.storedVersions ?? []
  const added = (versions ?? []).flatMap(({ name = '', storage }) => (storage === true && !known.includes(name) ? [name] : []))
  if (added.length > 0) object.status = { ...status, storedVersions: [...known, ...added] }
}
