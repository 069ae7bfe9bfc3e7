/** A value of a certificate request as it is encoded: its tag, and where its content lies. */
interface Value {
  readonly tag: number
  readonly start: number
  readonly end: number
}

const sequence = 0x30
const set = 0x31
const integer = 0x02
const objectIdentifier = 0x06
const bmpString = 0x1e

/** 2.5.4.10, encoded. */
const organization = '55040a'

/** The request cannot be read; the message says why. */
export class CertificateRequestError extends Error {
  override readonly name = 'CertificateRequestError'
}

/** The organizations in the subject of a PKCS #10 request in PEM. To the server they are the groups of the certificate's holder. */
export function organizationsOf(pem: string): readonly string[] {
  const [, type, body = ''] = /-----BEGIN ([^-\n]+)-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----/.exec(pem) ?? []
  if (type !== 'CERTIFICATE REQUEST') throw new CertificateRequestError('PEM block type must be CERTIFICATE REQUEST')
  const bytes = Buffer.from(body, 'base64')
  const request = expectTag(readValue(bytes, { start: 0, end: bytes.length }), sequence)
  const information = expectTag(readValue(bytes, request), sequence)
  const [version, subject] = childrenOf(bytes, information)
  expectTag(version, integer)
  return childrenOf(bytes, expectTag(subject, sequence)).flatMap((names) => {
    return childrenOf(bytes, expectTag(names, set)).flatMap((attribute) => organizationIn(bytes, expectTag(attribute, sequence)))
  })
}

function organizationIn(bytes: Buffer, attribute: Value): readonly string[] {
  const [type, value] = childrenOf(bytes, attribute)
  const { start, end } = expectTag(type, objectIdentifier)
  if (bytes.toString('hex', start, end) !== organization) return []
  if (value === undefined) throw new CertificateRequestError('the subject has an attribute without a value')
  const content = bytes.subarray(value.start, value.end)
  return [value.tag === bmpString ? new TextDecoder('utf-16be').decode(content) : content.toString()]
}

function childrenOf(bytes: Buffer, { start, end }: Pick<Value, 'start' | 'end'>): readonly Value[] {
  const children: Value[] = []
  for (let at = start; at < end; ) {
    const child = readValue(bytes, { start: at, end })
    children.push(child)
    at = child.end
  }
  return children
}

function readValue(bytes: Buffer, { start, end }: Pick<Value, 'start' | 'end'>): Value {
  const tag = bytes[start]
  const first = bytes[start + 1]
  if (tag === undefined || first === undefined || start + 2 > end) throw new CertificateRequestError('the request ends too early')
  // From 128 on the length stands in the bytes that follow.
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (first === 0x80 || lengthBytes > 4) throw new CertificateRequestError('a length in the request is not one of DER')
  const contentStart = start + 2 + lengthBytes
  if (contentStart > end) throw new CertificateRequestError('the request ends too early')
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(start + 2, lengthBytes)
  if (contentStart + length > end) throw new CertificateRequestError('the request ends too early')
  return { tag, start: contentStart, end: contentStart + length }
}

function expectTag(value: Value | undefined, tag: number): Value {
  if (value?.tag !== tag) throw new CertificateRequestError(`the request is no PKCS #10: expected a value of tag ${tag}, got ${value?.tag}`)
  return value
}
