import type { ApiObject } from '@orch/core/meta'

/** Members of `metadata` that mean nothing to another server. Owner references contain uids. */
const serverMetadata = ['resourceVersion', 'uid', 'managedFields', 'ownerReferences'] as const

/** Fields that every server sets. */
const derivedMetadata = ['creationTimestamp', 'generation', 'selfLink'] as const

/** Removes a server's additions from an object, so that another server accepts it as a new object. */
export function withoutServerState({ status, metadata, ...rest }: ApiObject & { readonly status?: unknown }) {
  const setAside = serverMetadata.filter((name) => hasValue(metadata[name]))
  const isLeftOut = (name: string) => [...serverMetadata, ...derivedMetadata].some((one) => one === name)
  const kept = Object.fromEntries(Object.entries(metadata).filter(([name]) => !isLeftOut(name)))
  const hasStatus = typeof status === 'object' && status !== null && Object.keys(status).length > 0
  return {
    object: { ...rest, metadata: kept },
    /** Names of the removed fields. */
    setAside: hasStatus ? [...setAside, 'status'] : setAside,
  }
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
}

/** `resourceVersion, uid and status are set aside`. */
export function setAsideText(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  const listed = names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${last}` : last
  return `${listed} ${names.length === 1 && last !== 'managedFields' ? 'is' : 'are'} set aside: only the server that the object came from knows what they mean`
}
