import { atomic, field, merged, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { closed, known, string } from '../description/texts.ts'
import { bytes, int32, list, map, ref, time, wrapped } from '../description/values.ts'
import { metadata, objectList } from './common.ts'

/** The types of certificates/v1. */
export const certificatesV1 = defineTypes({
  CertificateSigningRequest: object('Asks a signer for a certificate. It is signed once it is approved.', () => ({
    metadata,
    spec: required(ref('certificates/v1.CertificateSigningRequestSpec'), 2, 'The request and the requester. Cannot be changed.'),
    status: field(ref('certificates/v1.CertificateSigningRequestStatus'), 3, 'State of the request, and the certificate.'),
  })),
  CertificateSigningRequestCondition: struct('A decision on a request for a certificate.', () => ({
    type: required(ref('certificates/v1.RequestConditionType'), 1, 'Approved, Denied or Failed. Denied excludes Approved.'),
    status: required(ref('core/v1.ConditionStatus'), 6, 'True, False or Unknown.'),
    reason: field(string(), 2, 'Reason of the status in one CamelCase word, for programs.'),
    message: field(string(), 3, 'Details of the last change, for people.'),
    lastUpdateTime: field(time(), 4, 'Time of the last write of the condition.'),
    lastTransitionTime: field(time(), 5, 'Time of the last change of the status from one value to another.'),
  })),
  CertificateSigningRequestList: objectList('certificates/v1.CertificateSigningRequest'),
  CertificateSigningRequestSpec: struct('A request for a certificate and the requester, which the server fills in.', () => ({
    request: required(bytes(), 1, {
      listType: 'atomic',
      changes: { 35: { listType: undefined } },
      doc: 'The request, a PKCS#10 block in PEM, in base64.',
    }),
    signerName: required(string(), 7, 'Requested signer, as domain/path.'),
    expirationSeconds: pointer(int32(), 8, {
      doc: 'Requested lifetime in seconds, at least 600. The signer may choose another. Unset leaves it to the signer.',
    }),
    usages: atomic(list(ref('certificates/v1.KeyUsage')), 5, 'Allowed uses of the key.'),
    username: field(string(), 2, 'User who made the request.'),
    uid: field(string(), 3, 'Identity of the user.'),
    groups: atomic(list(string()), 4, 'Groups of the user.'),
    extra: field(map(wrapped(string())), 6, 'Further attributes of the user.'),
  })),
  CertificateSigningRequestStatus: struct('Observed state of a request for a certificate.', () => ({
    conditions: field(list(ref('certificates/v1.CertificateSigningRequestCondition')), 1, {
      listType: 'map',
      listMapKeys: ['type'],
      doc: 'State of the request by aspect: Approved, Denied, Failed.',
    }),
    certificate: atomic(bytes(), 2, {
      changes: { 35: { listType: undefined } },
      doc: 'The certificate in PEM, in base64, followed by the rest of its chain. Cannot be changed once set.',
    }),
  })),
  ClusterTrustBundle: object({ since: 37, doc: 'Certificates of authorities that any reader in the cluster may trust.' }, () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata.'),
    spec: required(ref('certificates/v1.ClusterTrustBundleSpec'), 2, 'Signer and certificates.'),
  })),
  ClusterTrustBundleList: objectList('certificates/v1.ClusterTrustBundle', { since: 37 }),
  ClusterTrustBundleSpec: struct({ since: 37, doc: 'Signer and certificates of a trust bundle.' }, () => ({
    signerName: field(string(), 1, {
      doc: 'Signer that the bundle belongs to. The name of the bundle then begins with it. Unset: no signer. It cannot be changed.',
    }),
    trustBundle: required(string(), 2, {
      doc: 'Certificates of authorities as PEM blocks without headers, each certificate once. Their order has no meaning.',
    }),
  })),
  KeyUsage: () =>
    closed(
      'signing',
      'digital signature',
      'content commitment',
      'key encipherment',
      'key agreement',
      'data encipherment',
      'cert sign',
      'crl sign',
      'encipher only',
      'decipher only',
      'any',
      'server auth',
      'client auth',
      'code signing',
      'email protection',
      's/mime',
      'ipsec end system',
      'ipsec tunnel',
      'ipsec user',
      'timestamping',
      'ocsp signing',
      'microsoft sgc',
      'netscape sgc',
    ),
  PodCertificateRequest: object({ since: 37, doc: 'A request of a node for a certificate of one of its pods.' }, () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata.'),
    spec: required(ref('certificates/v1.PodCertificateRequestSpec'), 2, {
      isImmutable: true,
      doc: 'Pod, key and signer. It cannot be changed.',
    }),
    status: field(ref('certificates/v1.PodCertificateRequestStatus'), 3, 'Answer of the signer.'),
  })),
  PodCertificateRequestList: objectList('certificates/v1.PodCertificateRequest', { since: 37 }),
  PodCertificateRequestSpec: struct({ since: 37, doc: 'Contents of a request for a certificate of a pod.' }, () => ({
    signerName: required(string(), 1, 'Requested signer, as a domain and a path.'),
    podName: required(string(), 2, 'Name of the pod.'),
    podUID: required(string(), 3, 'UID of the pod.'),
    serviceAccountName: required(string(), 4, 'Name of the service account of the pod.'),
    serviceAccountUID: required(string(), 5, 'UID of the service account.'),
    nodeName: required(string(), 6, 'Name of the node of the pod.'),
    nodeUID: required(string(), 7, 'UID of the node.'),
    maxExpirationSeconds: pointer(int32(), 8, {
      default: 86400,
      doc: 'Longest validity of the certificate, in seconds: at least 3600. Default: 86400.',
    }),
    stubPKCS10Request: required(bytes(), 12, {
      doc: 'Certificate request in DER with the public key and the proof of possession of the private key. Its other contents are ignored.',
    }),
    unverifiedUserAnnotations: field(map(string()), 11, 'Hints of the author of the pod to the signer, by key. They are not verified.'),
  })),
  PodCertificateRequestStatus: struct({ since: 37, doc: 'Answer to a request for a certificate of a pod.' }, () => ({
    conditions: merged('type', list(ref('meta/v1.Condition')), 1, 'Conditions: Issued, Denied or Failed.'),
    certificateChain: field(string(), 2, "Issued certificates as PEM; the pod's certificate is first."),
    notBefore: pointer(time(), 4, 'Moment from which the certificate is valid.'),
    beginRefreshAt: pointer(time(), 5, 'Moment from which the node asks for a new certificate.'),
    notAfter: pointer(time(), 6, 'Moment at which the certificate expires.'),
  })),
  RequestConditionType: () => known('Approved', 'Denied', 'Failed'),
})
