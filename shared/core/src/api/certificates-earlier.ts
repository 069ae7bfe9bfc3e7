import { required } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import type { Lifetime } from '../description/levels.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { bytes, ref } from '../description/values.ts'
import { certificatesV1 } from './certificates-v1.ts'

const { ClusterTrustBundle, ClusterTrustBundleList, ClusterTrustBundleSpec } = certificatesV1
const trustBundles = { ClusterTrustBundle, ClusterTrustBundleList, ClusterTrustBundleSpec }

/** The types of trust bundles in an earlier version, which equal those of v1. */
const earlierBundles = (version: string, since: number): typeof trustBundles =>
  inVersion(trustBundles, { from: 'certificates/v1', to: `certificates/${version}`, lifetimeOf: () => ({ since }) })

const { PodCertificateRequest, PodCertificateRequestList, PodCertificateRequestStatus } = certificatesV1
const requests = { PodCertificateRequest, PodCertificateRequestList, PodCertificateRequestStatus }

/** The types of pod certificate requests in an earlier version, in which the spec is different. */
const earlierRequests = (version: string, lifetime: Lifetime): typeof requests => {
  const ofSpec = { ...requests, PodCertificateRequestSpec: certificatesV1.PodCertificateRequestSpec }
  const { PodCertificateRequestSpec: _spec, ...others } = inVersion(ofSpec, {
    from: 'certificates/v1',
    to: `certificates/${version}`,
    lifetimeOf: () => lifetime,
  })
  return others
}

const requestDoc = 'Contents of a request for a certificate of a pod.'
/** The first level that accepts a stub certificate request instead of a key and its proof of possession. */
const stubsSince = 36
const optionalLater = { [stubsSince]: { required: false } }
const keys = {
  pkixPublicKey: required(bytes(), 9, { changes: optionalLater, doc: 'Public key in DER, as PKIX writes it. Deprecated.' }),
  proofOfPossession: required(bytes(), 10, { changes: optionalLater, doc: "Signature of the pod's UID by the private key. Deprecated." }),
}

/** The types of certificates/v1beta1. */
export const certificatesV1beta1 = defineTypes({
  ...earlierBundles('v1beta1', 33),
  ...earlierRequests('v1beta1', { since: 35 }),
  PodCertificateRequest: object({ since: 35, doc: 'A request of a node for a certificate of one of its pods.' }, () => {
    const { metadata, spec, status } = certificatesV1.PodCertificateRequest().members
    return {
      metadata,
      spec: { ...spec, node: ref('certificates/v1beta1.PodCertificateRequestSpec') },
      status: { ...status, node: ref('certificates/v1beta1.PodCertificateRequestStatus') },
    }
  }),
  PodCertificateRequestSpec: struct({ since: 35, doc: requestDoc }, () => {
    const { stubPKCS10Request: _stub, unverifiedUserAnnotations, ...members } = certificatesV1.PodCertificateRequestSpec().members
    const stubPKCS10Request = required(bytes(), 12, {
      since: stubsSince,
      doc: 'Certificate request in DER with the public key and the proof of possession of the private key. Its other contents are ignored.',
    })
    return { ...members, ...keys, stubPKCS10Request, unverifiedUserAnnotations }
  }),
})

/** The types of certificates/v1alpha1. */
export const certificatesV1alpha1 = defineTypes({
  ...earlierBundles('v1alpha1', 27),
  ...earlierRequests('v1alpha1', { since: 34, until: 34 }),
  PodCertificateRequestSpec: struct({ since: 34, until: 34, doc: requestDoc }, () => {
    const { stubPKCS10Request: _stub, unverifiedUserAnnotations: _hints, ...members } = certificatesV1.PodCertificateRequestSpec().members
    return { ...members, ...keys }
  }),
})
