import type { Subresource } from '@orch/core/catalogue'
import { objectKey } from '@orch/core/contracts'
import type { ResourceInfo } from './request-info.ts'
import type { Served } from './served.ts'

/** What a resource request is addressed to. */
export interface Target {
  readonly info: ResourceInfo
  readonly served: Served
  readonly subresource: Subresource | undefined
}

/** A target whose path names a subresource. */
export interface SubresourceTarget extends Target {
  readonly subresource: Subresource
}

/** Where an object of the target lies in storage. */
export function keyOf({ served, info }: Target, name: string): string {
  const { isNamespaced, stored } = served.resource
  return objectKey(stored.prefix, isNamespaced ? info.namespace : undefined, name)
}
