import { warningsOfStaticName } from '../../warnings/admission-warnings.ts'

/** The behaviour of all kinds that configure admission. */
export const admissionKind = {
  categories: ['api-extensions'],
  scope: 'Cluster',
  rechecksName: true,
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  countsGenerations: true,
} as const

const policyKind = { ...admissionKind, storageVersion: 'v1alpha1', warnings: warningsOfStaticName } as const

/** Policies that change objects, and their bindings. */
export const mutatingKind = {
  ...policyKind,
  versions: {
    v1alpha1: { since: 32, isOffByDefault: true, deprecated: { since: '1.35', removed: '1.38' } },
    v1beta1: { since: 34, isOffByDefault: true, deprecated: { since: '1.37', removed: '1.40', replacement: 'v1' } },
    v1: { since: 36 },
  },
  changes: { 35: { storageVersion: 'v1beta1' }, 37: { storageVersion: 'v1' } },
} as const

/** Policies that refuse requests, and their bindings. */
export const validatingKind = {
  ...policyKind,
  versions: {
    v1alpha1: { since: 26, until: 31, isOffByDefault: true },
    v1beta1: { since: 28, isOffByDefault: true, deprecated: { since: '1.31', removed: '1.34' } },
    v1: { since: 30 },
  },
  changes: { 29: { storageVersion: 'v1beta1' }, 31: { storageVersion: 'v1' } },
} as const
