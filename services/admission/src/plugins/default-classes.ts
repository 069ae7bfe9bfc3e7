import type { ApiObject } from '@orch/core/meta'
import { parseStored } from './objects.ts'

/** What plugins look at in a class that may be the default one. */
export interface ClassState {
  readonly name: string
  readonly createdAt: string
  readonly isDefault: boolean
  readonly allowsExpansion: boolean
}

/** Reads a class; any of the annotations makes it the default one. */
export function classReader(annotations: readonly string[]): (value: Uint8Array) => ClassState {
  return (value) => {
    const { metadata, ...rest } = parseStored<ApiObject & { readonly allowVolumeExpansion?: boolean }>(value)
    return {
      name: metadata.name ?? '',
      createdAt: String(metadata.creationTimestamp ?? ''),
      isDefault: annotations.some((annotation) => metadata.annotations?.[annotation] === 'true'),
      allowsExpansion: rest.allowVolumeExpansion === true,
    }
  }
}
