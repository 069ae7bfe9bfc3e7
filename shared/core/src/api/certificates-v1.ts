import { bytes, closed, defineTypes, field, int32, known, list, map, object, ref, string, struct, time, wrapped } from '../schema/define.ts'

/** The types of certificates/v1: one definition each, read by everything that knows a type. */
export const certificatesV1 = defineTypes({
  CertificateSigningRequest: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      spec: field(ref('certificates/v1.CertificateSigningRequestSpec'), { tag: 2, required: true }),
      status: field(ref('certificates/v1.CertificateSigningRequestStatus'), { tag: 3 }),
    }),
  CertificateSigningRequestCondition: () =>
    struct({
      type: field(ref('certificates/v1.RequestConditionType'), { tag: 1, required: true }),
      status: field(ref('core/v1.ConditionStatus'), { tag: 6, required: true }),
      reason: field(string(), { tag: 2 }),
      message: field(string(), { tag: 3 }),
      lastUpdateTime: field(time(), { tag: 4 }),
      lastTransitionTime: field(time(), { tag: 5 }),
    }),
  CertificateSigningRequestList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('certificates/v1.CertificateSigningRequest')), { tag: 2, required: true }),
    }),
  CertificateSigningRequestSpec: () =>
    struct({
      request: field(bytes(), { tag: 1, required: true, listType: 'atomic' }),
      signerName: field(string(), { tag: 7, required: true }),
      expirationSeconds: field(int32(), { tag: 8, pointer: true }),
      usages: field(list(ref('certificates/v1.KeyUsage')), { tag: 5, listType: 'atomic' }),
      username: field(string(), { tag: 2 }),
      uid: field(string(), { tag: 3 }),
      groups: field(list(string()), { tag: 4, listType: 'atomic' }),
      extra: field(map(wrapped(string())), { tag: 6 }),
    }),
  CertificateSigningRequestStatus: () =>
    struct({
      conditions: field(list(ref('certificates/v1.CertificateSigningRequestCondition')), {
        tag: 1,
        listType: 'map',
        listMapKeys: ['type'],
      }),
      certificate: field(bytes(), { tag: 2, listType: 'atomic' }),
    }),
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
