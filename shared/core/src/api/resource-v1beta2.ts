import { inVersion } from '../description/in-version.ts'
import { defineTypes } from '../description/structs.ts'
import { resourceV1 } from './resource-v1.ts'

/** True for a type that this version has one level before v1. */
const isEarlier = (type: string): boolean => type.startsWith('DeviceTaintRule') || type === 'DeviceTaintSelector'

/** The types of resource/v1beta2: those of v1. */
export const resourceV1beta2 = defineTypes(
  inVersion(resourceV1, {
    from: 'resource/v1',
    to: 'resource/v1beta2',
    lifetimeOf: (type) => (isEarlier(type) ? { since: 36 } : undefined),
  }),
)
