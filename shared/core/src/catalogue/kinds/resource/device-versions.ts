/** The versions of the first kinds about devices. */
export const deviceVersions = {
  v1alpha3: { since: 31, until: 33, isOffByDefault: true },
  v1beta1: { since: 32, isOffByDefault: true, deprecated: { since: '1.35', removed: '1.38' } },
  v1beta2: { since: 33, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
  v1: { since: 34 },
} as const

/** The stored versions of these kinds, and the answer of a delete. */
export const deviceStorage = {
  storageVersion: 'v1alpha3',
  changes: { 32: { storageVersion: 'v1beta1' }, 34: { storageVersion: 'v1beta2' }, 35: { storageVersion: 'v1' } },
  deleteAnswer: 'object',
} as const
