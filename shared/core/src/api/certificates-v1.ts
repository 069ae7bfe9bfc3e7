import {
  atomic,
  bytes,
  closed,
  defineTypes,
  field,
  int32,
  known,
  list,
  map,
  object,
  pointer,
  ref,
  required,
  string,
  struct,
  time,
  wrapped,
} from '../description/define.ts'
import { metadata, objectList } from './common.ts'

/** The types of certificates/v1. */
export const certificatesV1 = defineTypes({
  CertificateSigningRequest: () =>
    object(
      {
        metadata,
        spec: required(ref('certificates/v1.CertificateSigningRequestSpec'), {
          tag: 2,
          doc: 'The request and the requester. Cannot be changed.',
        }),
        status: field(ref('certificates/v1.CertificateSigningRequestStatus'), {
          tag: 3,
          doc: 'State of the request, and the certificate.',
        }),
      },
      { doc: 'Asks a signer for a certificate. It is signed once it is approved.' },
    ),
  CertificateSigningRequestCondition: () =>
    struct(
      {
        type: required(ref('certificates/v1.RequestConditionType'), {
          tag: 1,
          doc: 'Approved, Denied or Failed. Denied excludes Approved.',
        }),
        status: required(ref('core/v1.ConditionStatus'), { tag: 6, doc: 'True, False or Unknown.' }),
        reason: field(string(), { tag: 2, doc: 'Reason of the status in one CamelCase word, for programs.' }),
        message: field(string(), { tag: 3, doc: 'Details of the last change, for people.' }),
        lastUpdateTime: field(time(), { tag: 4, doc: 'Time of the last write of the condition.' }),
        lastTransitionTime: field(time(), { tag: 5, doc: 'Time of the last change of the status from one value to another.' }),
      },
      { doc: 'A decision on a request for a certificate.' },
    ),
  CertificateSigningRequestList: () => objectList('certificates/v1.CertificateSigningRequest'),
  CertificateSigningRequestSpec: () =>
    struct(
      {
        request: required(bytes(), {
          tag: 1,
          listType: 'atomic',
          changes: { 35: { listType: undefined } },
          doc: 'The request, a PKCS#10 block in PEM, in base64.',
        }),
        signerName: required(string(), { tag: 7, doc: 'Requested signer, as domain/path.' }),
        expirationSeconds: pointer(int32(), {
          tag: 8,
          doc: 'Requested lifetime in seconds, at least 600. The signer may choose another. Unset leaves it to the signer.',
        }),
        usages: atomic(list(ref('certificates/v1.KeyUsage')), { tag: 5, doc: 'Allowed uses of the key.' }),
        username: field(string(), { tag: 2, doc: 'User who made the request.' }),
        uid: field(string(), { tag: 3, doc: 'Identity of the user.' }),
        groups: atomic(list(string()), { tag: 4, doc: 'Groups of the user.' }),
        extra: field(map(wrapped(string())), { tag: 6, doc: 'Further attributes of the user.' }),
      },
      { doc: 'A request for a certificate and the requester, which the server fills in.' },
    ),
  CertificateSigningRequestStatus: () =>
    struct(
      {
        conditions: field(list(ref('certificates/v1.CertificateSigningRequestCondition')), {
          tag: 1,
          listType: 'map',
          listMapKeys: ['type'],
          doc: 'State of the request by aspect: Approved, Denied, Failed.',
        }),
        certificate: atomic(bytes(), {
          tag: 2,
          changes: { 35: { listType: undefined } },
          doc: 'The certificate in PEM, in base64, followed by the rest of its chain. Cannot be changed once set.',
        }),
      },
      { doc: 'Observed state of a request for a certificate.' },
    ),
  ClusterTrustBundle: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, doc: 'Standard metadata.' }),
        spec: required(ref('certificates/v1.ClusterTrustBundleSpec'), { tag: 2, doc: 'Signer and certificates.' }),
      },
      { since: 37, doc: 'Certificates of authorities that any reader in the cluster may trust.' },
    ),
  ClusterTrustBundleList: () => objectList('certificates/v1.ClusterTrustBundle', { since: 37 }),
  ClusterTrustBundleSpec: () =>
    struct(
      {
        signerName: field(string(), {
          tag: 1,
          doc: 'Signer that the bundle belongs to. The name of the bundle then begins with it. Unset: no signer. It cannot be changed.',
        }),
        trustBundle: required(string(), {
          tag: 2,
          doc: 'Certificates of authorities as PEM blocks without headers, each certificate once. Their order has no meaning.',
        }),
      },
      { since: 37, doc: 'Signer and certificates of a trust bundle.' },
    ),
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
  PodCertificateRequest: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, doc: 'Standard metadata.' }),
        spec: required(ref('certificates/v1.PodCertificateRequestSpec'), {
          tag: 2,
          isImmutable: true,
          doc: 'Pod, key and signer. It cannot be changed.',
        }),
        status: field(ref('certificates/v1.PodCertificateRequestStatus'), { tag: 3, doc: 'Answer of the signer.' }),
      },
      { since: 37, doc: 'A request of a node for a certificate of one of its pods.' },
    ),
  PodCertificateRequestList: () => objectList('certificates/v1.PodCertificateRequest', { since: 37 }),
  PodCertificateRequestSpec: () =>
    struct(
      {
        signerName: required(string(), { tag: 1, doc: 'Requested signer, as a domain and a path.' }),
        podName: required(string(), { tag: 2, doc: 'Name of the pod.' }),
        podUID: required(string(), { tag: 3, doc: 'UID of the pod.' }),
        serviceAccountName: required(string(), { tag: 4, doc: 'Name of the service account of the pod.' }),
        serviceAccountUID: required(string(), { tag: 5, doc: 'UID of the service account.' }),
        nodeName: required(string(), { tag: 6, doc: 'Name of the node of the pod.' }),
        nodeUID: required(string(), { tag: 7, doc: 'UID of the node.' }),
        maxExpirationSeconds: pointer(int32(), {
          tag: 8,
          default: 86400,
          doc: 'Longest validity of the certificate, in seconds: at least 3600. Default: 86400.',
        }),
        stubPKCS10Request: required(bytes(), {
          tag: 12,
          doc: 'Certificate request in DER with the public key and the proof of possession of the private key. Its other contents are ignored.',
        }),
        unverifiedUserAnnotations: field(map(string()), {
          tag: 11,
          doc: 'Hints of the author of the pod to the signer, by key. They are not verified.',
        }),
      },
      { since: 37, doc: 'Contents of a request for a certificate of a pod.' },
    ),
  PodCertificateRequestStatus: () =>
    struct(
      {
        conditions: field(list(ref('meta/v1.Condition')), {
          tag: 1,
          patchStrategy: 'merge',
          patchMergeKey: 'type',
          listType: 'map',
          listMapKeys: ['type'],
          doc: 'Conditions: Issued, Denied or Failed.',
        }),
        certificateChain: field(string(), { tag: 2, doc: "Issued certificates as PEM; the pod's certificate is first." }),
        notBefore: pointer(time(), { tag: 4, doc: 'Moment from which the certificate is valid.' }),
        beginRefreshAt: pointer(time(), { tag: 5, doc: 'Moment from which the node asks for a new certificate.' }),
        notAfter: pointer(time(), { tag: 6, doc: 'Moment at which the certificate expires.' }),
      },
      { since: 37, doc: 'Answer to a request for a certificate of a pod.' },
    ),
  RequestConditionType: () => known('Approved', 'Denied', 'Failed'),
})
