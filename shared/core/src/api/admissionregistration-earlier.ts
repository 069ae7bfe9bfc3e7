import { inVersion } from '../description/in-version.ts'
import type { Lifetime } from '../description/levels.ts'
import { defineTypes } from '../description/structs.ts'
import { admissionPolicies } from './admissionregistration-policies.ts'

/** The types of admission policies in an earlier version. They equal the types of v1, except for the levels that serve them. */
const earlier = (version: string, validating: Lifetime, mutating: Lifetime): typeof admissionPolicies =>
  inVersion(admissionPolicies, {
    from: 'admissionregistration/v1',
    to: `admissionregistration/${version}`,
    lifetimeOf: (type) => (type.startsWith('Validating') ? validating : type.startsWith('Mutating') ? mutating : undefined),
  })

/** The types of admissionregistration/v1beta1. */
export const admissionregistrationV1beta1 = defineTypes(earlier('v1beta1', { until: 33 }, { since: 34 }))

const alpha = earlier('v1alpha1', { until: 31 }, { since: 32 })

/** The types of admissionregistration/v1alpha1. Server-side apply owns a variable by field. */
export const admissionregistrationV1alpha1 = defineTypes({
  ...alpha,
  Variable: () => ({ ...alpha.Variable(), facets: { doc: 'A value with a name.' } }),
})
