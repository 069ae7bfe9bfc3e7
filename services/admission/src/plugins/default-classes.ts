import { parseStored } from '@orch/core/schema'

/** The facts of a possible default class. */
export interface ClassState {
  readonly name: string
  readonly createdAt: string
  readonly isDefault: boolean
  readonly allowsExpansion: boolean
}

/** Parses a class; any of the annotations makes it a default class. */
export function classReader(
  type: 'networking/v1.IngressClass' | 'storage/v1.StorageClass',
  annotations: readonly string[],
): (value: Uint8Array) => ClassState {
  return (value) => {
    const kept = parseStored(type, value)
    const { metadata } = kept
    return {
      name: metadata.name ?? '',
      createdAt: String(metadata.creationTimestamp ?? ''),
      isDefault: annotations.some((annotation) => metadata.annotations?.[annotation] === 'true'),
      allowsExpansion: 'allowVolumeExpansion' in kept && kept.allowVolumeExpansion === true,
    }
  }
}

/** The newest default class; among equally old ones, the first by name. */
export function newestDefault(classes: Iterable<ClassState>): ClassState | undefined {
  const marked = [...classes].filter(({ isDefault }) => isDefault)
  return marked.sort((a, b) => (a.createdAt === b.createdAt ? (a.name < b.name ? -1 : 1) : a.createdAt > b.createdAt ? -1 : 1))[0]
}
