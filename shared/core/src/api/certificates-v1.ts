import {
  bytes,
  closed,
  defineTypes,
  field,
  int32,
  known,
  list,
  map,
  object,
  ref,
  string,
  struct,
  time,
  wrapped,
} from '../description/define.ts'

/** The types of certificates/v1: one definition each, read by everything that knows a type. */
export const certificatesV1 = defineTypes({
  CertificateSigningRequest: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), {
          tag: 1,
          doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
        }),
        spec: field(ref('certificates/v1.CertificateSigningRequestSpec'), {
          tag: 2,
          required: true,
          doc: 'The request and who makes it. Cannot be changed.',
        }),
        status: field(ref('certificates/v1.CertificateSigningRequestStatus'), {
          tag: 3,
          doc: 'Whether the request was approved, and the certificate.',
        }),
      },
      { doc: 'Asks a signer for a certificate. It is signed once it is approved.' },
    ),
  CertificateSigningRequestCondition: () =>
    struct(
      {
        type: field(ref('certificates/v1.RequestConditionType'), {
          tag: 1,
          required: true,
          doc: 'Approved, Denied or Failed. Denied excludes Approved.',
        }),
        status: field(ref('core/v1.ConditionStatus'), { tag: 6, required: true, doc: 'True, False or Unknown.' }),
        reason: field(string(), { tag: 2, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
        message: field(string(), { tag: 3, doc: 'Details of the last change, for people.' }),
        lastUpdateTime: field(time(), { tag: 4, doc: 'When the condition was last written.' }),
        lastTransitionTime: field(time(), { tag: 5, doc: 'When the status last changed from one value to another.' }),
      },
      { doc: 'A decision on a request for a certificate.' },
    ),
  CertificateSigningRequestList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('certificates/v1.CertificateSigningRequest')), {
          tag: 2,
          required: true,
          doc: 'The CertificateSigningRequest objects of the list.',
        }),
      },
      { doc: 'A list of CertificateSigningRequest objects.' },
    ),
  CertificateSigningRequestSpec: () =>
    struct(
      {
        request: field(bytes(), { tag: 1, required: true, listType: 'atomic', doc: 'The request, a PKCS#10 block in PEM, in base64.' }),
        signerName: field(string(), { tag: 7, required: true, doc: 'Signer that is asked, as domain/path.' }),
        expirationSeconds: field(int32(), {
          tag: 8,
          pointer: true,
          doc: 'Lifetime asked for, in seconds, at least 600. The signer may give another. Unset leaves it to the signer.',
        }),
        usages: field(list(ref('certificates/v1.KeyUsage')), { tag: 5, listType: 'atomic', doc: 'What the key may be used for.' }),
        username: field(string(), { tag: 2, doc: 'User who made the request.' }),
        uid: field(string(), { tag: 3, doc: 'Identity of the user.' }),
        groups: field(list(string()), { tag: 4, listType: 'atomic', doc: 'Groups of the user.' }),
        extra: field(map(wrapped(string())), { tag: 6, doc: 'Further attributes of the user.' }),
      },
      { doc: 'A request for a certificate and who makes it. The latter is filled in by the server.' },
    ),
  CertificateSigningRequestStatus: () =>
    struct(
      {
        conditions: field(list(ref('certificates/v1.CertificateSigningRequestCondition')), {
          tag: 1,
          listType: 'map',
          listMapKeys: ['type'],
          doc: 'Whether the request was Approved, Denied or Failed.',
        }),
        certificate: field(bytes(), {
          tag: 2,
          listType: 'atomic',
          doc: 'The certificate in PEM, in base64, with further ones of its chain behind. Cannot be changed once set.',
        }),
      },
      { doc: 'What became of a request for a certificate.' },
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
  RequestConditionType: () => known('Approved', 'Denied', 'Failed'),
})
