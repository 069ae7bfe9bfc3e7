import { defineTypes } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { certificatesV1 } from './certificates-v1.ts'

const { ClusterTrustBundle, ClusterTrustBundleList, ClusterTrustBundleSpec } = certificatesV1
const trustBundles = { ClusterTrustBundle, ClusterTrustBundleList, ClusterTrustBundleSpec }

/** The types of trust bundles in an earlier version, which are those of v1 from another level on. */
const earlier = (version: string, since: number): typeof trustBundles =>
  inVersion(trustBundles, { from: 'certificates/v1', to: `certificates/${version}`, lifetimeOf: () => ({ since }) })

/** The types of certificates/v1beta1. */
export const certificatesV1beta1 = defineTypes(earlier('v1beta1', 33))

/** The types of certificates/v1alpha1. */
export const certificatesV1alpha1 = defineTypes(earlier('v1alpha1', 27))
